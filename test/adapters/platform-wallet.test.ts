import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { checkChains } from '../../src/chain/check-chains.ts'
import { type Anvil, KEYS, startAnvil } from '../chain/anvil.ts'
import { rpc } from '../chain/rpc.ts'
import { chainConfig, newRecipient } from '../chain/setup.ts'
import { deployToken, type Token } from '../chain/token.ts'
import { until } from '../doubles/until.ts'
import { ask, type RunningPlatform, startPlatform } from './platform.ts'

const CHAIN_ID = 31_337
/** Of the first of the keys. */
const OWN = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'

// biome-ignore lint/suspicious/noExplicitAny: replies, as they are read here
type Json = any

describe('the wallet of a platform that pays on a chain', () => {
  let anvil: Anvil
  let token: Token
  let platform: RunningPlatform

  before(async () => {
    anvil = await startAnvil({ chainId: CHAIN_ID })
    token = await deployToken(anvil)
    await token.mint(OWN, 2_500_000n)
    const { chain } = chainConfig({ url: anvil.url, chainId: CHAIN_ID, token: token.address, wallet: {} })
    platform = await startPlatform('sandbox', {
      env: { GAZEWAY_WALLET_PRIVATE_KEY: KEYS[0] },
      document: {
        chain: {
          ...chain,
          networks: { ...chain.networks, 2: { name: 'Dead' } },
          rpc_urls: { ...chain.rpc_urls, 2: 'http://127.0.0.1:1/the-key-of-a-node' },
          agent: { registrations: [{ agent_id: 7, agent_registry: `eip155:84532:0x${'8'.repeat(40)}` }] },
        },
      },
      withHttp: false,
    })
  })
  after(async () => {
    await platform.close()
    await anvil.stop()
  })

  const read = async (path: string, key: string | null = platform.admin): Promise<Json> =>
    (await ask(platform, 'GET', path, { key })).json()

  it('tells an admin what its own account has on every chain', async () => {
    const wallet = await read('/api/wallet')
    assert.deepEqual([wallet.address, wallet.settlement], [OWN, 'evm'])
    const { items, total } = await read('/api/wallet/balances')
    assert.equal(total, 2)
    const [dead, test] = items
    assert.deepEqual(
      [dead.chain, dead.native, dead.tokens, dead.error],
      ['Dead', null, [], 'The node cannot be reached.'],
    )
    assert.deepEqual([test.address, test.native.decimals, test.error], [OWN, 18, null])
    assert.ok(/^9999\.\d+$|^10000$/.test(test.native.amount), test.native.amount)
    assert.deepEqual(test.tokens, [
      { symbol: 'USDT', address: token.address.toLowerCase(), amount: '2.5', raw: '2500000', decimals: 6 },
    ])
  })

  it('tells a key what the wallet that it is bound to has', async () => {
    const wallet = newRecipient()
    await token.mint(wallet, 1n)
    const { key } = await platform.gateway.keys.create({ name: 'bound', scopes: ['platform'], wallet })
    const { address, balances } = await read('/api/wallet', key)
    assert.equal(address, wallet)
    assert.equal(balances[1].tokens[0].raw, '1')
    const unbound = await read('/api/wallet', platform.key)
    assert.deepEqual([unbound.address, unbound.balances], [null, []])
  })

  it('registers the agent for all to read', async () => {
    const file = await read('/.well-known/agent-registration.json', null)
    assert.equal(file.type, 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1')
    assert.deepEqual(file.registrations, [{ agentId: 7, agentRegistry: `eip155:84532:0x${'8'.repeat(40)}` }])
    assert.deepEqual([file.active, file.x402Support, file.supportedTrust], [true, false, []])
    const endpoints = Object.fromEntries(file.services.map((one: Json) => [one.name, one.endpoint]))
    assert.deepEqual(endpoints, {
      web: `${platform.url}/`,
      OpenAPI: `${platform.url}/openapi.json`,
      agentWallet: `eip155:${CHAIN_ID}:${OWN}`,
    })
  })

  it('shows neither the key of a node nor its own in replies, logs and the store', async () => {
    await read('/api/wallet')
    const shown = JSON.stringify([await read('/api/wallet/balances'), await read('/api/config'), platform.logged])
    for (const secret of ['the-key-of-a-node', KEYS[0], KEYS[0].slice(2)]) assert.ok(!shown.includes(secret), secret)
  })

  it('says whether what is locked is covered', async () => {
    const { escrow_usd, onchain, solvent } = await platform.gateway.chain.vault()
    assert.deepEqual([escrow_usd, onchain.length, solvent], [0, 2, true])
  })

  it('has its chains checked, and the gas that settlements need', async () => {
    await assert.rejects(checkChains(platform.gateway.chain), {
      message: 'Dead (2): The node cannot be reached. Check chain.rpc_urls.2.',
    })
    const alive = {
      ...platform.gateway.chain,
      status: async () => (await platform.gateway.chain.status()).filter(({ chain_id }) => chain_id === CHAIN_ID),
    }
    assert.match(await checkChains(alive), new RegExp(`paid on Test by ${OWN}, which has .* ETH and 2\\.5 USDT$`))
    await rpc(anvil.url, 'anvil_setBalance', [OWN, '0x0'])
    // What was read a moment ago is shown for a second.
    await until(() => checkChains(alive).then(() => false, isOutOfGas))
  })
})

const isOutOfGas = (error: Error): boolean => /has no ETH on Test to pay gas with/.test(error.message)
