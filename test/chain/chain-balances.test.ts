import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { formatUnits, parseUnits } from 'viem'
import { createBalanceReader, inCoins } from '../../src/chain/chain-balances.ts'
import { openNode } from '../../src/chain/chain-node.ts'
import type { Network } from '../../src/chain/networks.ts'
import { chainStatus } from '../../src/chain/status.ts'
import { type Anvil, startAnvil } from './anvil.ts'
import { newRecipient } from './setup.ts'
import { deployToken, type Token } from './token.ts'

const CHAIN_ID = 31_337
const SECRET = 'a-key-in-the-address'

describe('balances on chains', () => {
  let anvil: Anvil
  let token: Token
  let silent: Server
  const asked: (string | undefined)[] = []
  const owner = newRecipient()
  const now = () => new Date('2026-11-21T07:17:52.000Z')

  before(async () => {
    anvil = await startAnvil({ chainId: CHAIN_ID })
    token = await deployToken(anvil)
    await token.mint(owner, 1_500_001n)
    silent = createServer(({ url }) => {
      asked.push(url)
    }).listen(0, '127.0.0.1')
  })
  after(async () => {
    silent.closeAllConnections()
    silent.close()
    await anvil.stop()
  })

  const network = (changes: Partial<Network>): Network => ({
    chainId: CHAIN_ID,
    name: 'Test',
    native: { symbol: 'ETH', decimals: 18 },
    tokens: [{ symbol: 'USDT', address: token.address.toLowerCase() as `0x${string}`, decimals: 6 }],
    rpcUrl: `${anvil.url}/?key=${SECRET}`,
    timeoutMs: 2000,
    confirmations: 1,
    explorer: null,
    ...changes,
  })
  const nodeOf = async ({ chainId, rpcUrl, timeoutMs }: Network) =>
    openNode({ chainId, rpcUrl: rpcUrl ?? '', timeoutMs })
  const readerOf = (networks: Network[]) => createBalanceReader({ networks, nodeOf, now })
  const silentUrl = () => `http://127.0.0.1:${(silent.address() as { port: number }).port}/${SECRET}`

  it('are read with their exact amounts, raw and in whole coins', async () => {
    const [found] = await readerOf([network({})]).read(owner)
    assert.ok((found?.block_number ?? 0) > 0, 'it says at which block')
    assert.deepEqual(
      { ...found, block_number: 0 },
      {
        chain_id: CHAIN_ID,
        chain: 'Test',
        address: owner,
        native: { symbol: 'ETH', amount: '0', raw: '0', decimals: 18 },
        tokens: [
          { symbol: 'USDT', address: token.address.toLowerCase(), amount: '1.500001', raw: '1500001', decimals: 6 },
        ],
        block_number: 0,
        as_of: '2026-11-21T07:17:52.000Z',
        error: null,
      },
    )
  })

  it('are given for the chains that answer, whatever the others do', async () => {
    const found = await readerOf([
      network({ chainId: 1, name: 'Lying' }),
      network({ chainId: 2, name: 'Dead', rpcUrl: `http://127.0.0.1:1/${SECRET}` }),
      network({ chainId: 3, name: 'Silent', rpcUrl: silentUrl(), timeoutMs: 200 }),
      network({ chainId: 4, name: 'Unset', rpcUrl: null }),
      network({}),
    ]).read(owner)
    assert.deepEqual(
      found.map(({ chain, native, error }) => [chain, native?.raw ?? null, error]),
      [
        ['Lying', null, `The node is on chain ${CHAIN_ID}, not 1. Check chain.rpc_urls.1.`],
        ['Dead', null, 'The node cannot be reached.'],
        ['Silent', null, 'The node did not answer within 200 ms.'],
        ['Unset', null, 'No node is set. Set chain.rpc_urls.4.'],
        ['Test', '0', null],
      ],
    )
    assert.ok(!JSON.stringify(found).includes(SECRET), 'no URL is shown')
  })

  it('are given for the coins that can be read, whatever a token does', async () => {
    const tokens = [{ symbol: 'NONE', address: newRecipient() as `0x${string}`, decimals: 6 }, ...network({}).tokens]
    const [found] = await readerOf([network({ tokens })]).read(owner)
    assert.deepEqual(
      found?.tokens.map(({ symbol }) => symbol),
      ['USDT'],
    )
    assert.equal(found?.native?.raw, '0')
    assert.equal(found?.error, 'NONE: There is no token at its address. Check the address in chain.networks.')
  })

  it('are read once for all who ask at the same time', async () => {
    const rpcUrl = `${silentUrl()}/once`
    const reader = readerOf([network({ chainId: 3, rpcUrl, timeoutMs: 1000, tokens: [] })])
    const found = await Promise.all(Array.from({ length: 20 }, () => reader.read(owner)))
    assert.equal(asked.filter((url) => url === new URL(rpcUrl).pathname).length, 3)
    assert.equal(new Set(found).size, 1)
  })

  it('are written exactly, whatever the amount and the decimals', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.integer({ min: 0, max: 36 }), (raw, decimals) => {
        assert.equal(inCoins(raw, decimals), formatUnits(raw, decimals))
        assert.equal(parseUnits(inCoins(raw, decimals), decimals), raw)
      }),
    )
  })

  it('come with whether each chain can be asked', async () => {
    const states = await chainStatus(
      [network({}), network({ chainId: 2, name: 'Dead', rpcUrl: 'http://127.0.0.1:1' })],
      nodeOf,
    )
    assert.deepEqual(
      states.map(({ chain_id, reachable, error }) => [chain_id, reachable, error]),
      [
        [CHAIN_ID, true, null],
        [2, false, 'The node cannot be reached.'],
      ],
    )
    assert.ok((states[0]?.block_number ?? 0) > 0, 'it says at which block the chain is')
  })
})
