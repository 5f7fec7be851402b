import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Challenge, Receipt } from 'mppx'
import { Mppx, tempo } from 'mppx/client'
import { createClient, defineChain, type Hex, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { readContract } from 'viem/actions'
import { Abis } from 'viem/tempo'
import { tempoModerato } from 'viem/tempo/chains'
import { Config } from '../../src/config/schema.ts'
import { type Anvil, KEYS, startAnvil } from '../chain/anvil.ts'
import { type PaidApp, startPaidApp } from './paid-app.ts'

const PATH_USD = '0x20c0000000000000000000000000000000000000'
const RECIPIENT = '0x00000000000000000000000000000000000000AA'

describe('payments on a Tempo test network of our own', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-payments-'))
  let anvil: Anvil
  let app: PaidApp
  let client: ReturnType<typeof clientOf>

  before(async () => {
    anvil = await startAnvil({ chainId: 42_431, args: ['--network', 'tempo', '--block-time', '1'] })
    client = clientOf(anvil.url)
    const config = Config.parse({
      mpp: {
        enabled: true,
        secret_key: 'x'.repeat(32),
        recipient: RECIPIENT,
        methods: ['tempo'],
        tempo: { rpc_url: anvil.url },
      },
    })
    app = await startPaidApp(`sqlite:${join(folder, 'store.db')}`, config)
  })
  after(async () => {
    await app.close()
    await anvil.stop()
    rmSync(folder, { recursive: true })
  })

  /** The node holds back a second payment of one account, so each is made by another. */
  const payer = (key: Hex) =>
    Mppx.create({
      methods: [tempo.charge({ account: privateKeyToAccount(key), getClient: () => client })],
      polyfill: false,
    })

  const balanceOf = (owner: Hex) =>
    readContract(client, { address: PATH_USD, abi: Abis.tip20, functionName: 'balanceOf', args: [owner] })

  it('serves a request that is paid for in pathUSD, and settles it', async () => {
    const before = await balanceOf(RECIPIENT)
    const response = await payer(KEYS[1]).fetch(`${app.url}/v1/echo`)
    assert.equal(response.status, 200, await response.clone().text())
    assert.deepEqual(await response.json(), { payer: privateKeyToAccount(KEYS[1]).address.toLowerCase() })
    assert.equal(Receipt.fromResponse(response).method, 'tempo')
    assert.equal((await balanceOf(RECIPIENT)) - before, 90_000n)
    assert.deepEqual(app.errors, [])
  })

  it('gives each request a challenge of its own', async () => {
    const terms = { amount: 90_000, scope: 'GET /v1/echo', description: 'An echo' }
    const asked = await Promise.all(Array.from({ length: 100 }, () => app.payments.challenges(terms)))
    assert.equal(new Set(asked.flat().map((header) => Challenge.deserialize(header).id)).size, 100)
  })

  it('serves a payment once', async () => {
    const before = await balanceOf(RECIPIENT)
    const url = `${app.url}/v1/echo`
    const authorization = await payer(KEYS[2]).createCredential(await fetch(url))
    const responses = await Promise.all([1, 2, 3, 4].map(() => fetch(url, { headers: { authorization } })))
    assert.deepEqual(responses.map(({ status }) => status).toSorted(), [200, 402, 402, 402])
    assert.equal((await fetch(url, { headers: { authorization } })).status, 402)
    assert.equal((await balanceOf(RECIPIENT)) - before, 90_000n)
  })
})

function clientOf(url: string) {
  return createClient({
    chain: defineChain({ ...tempoModerato, rpcUrls: { default: { http: [url] } } }),
    transport: http(url),
    pollingInterval: 100,
  })
}
