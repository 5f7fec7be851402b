import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
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
import { openPayments } from '../../adapters/platform/payments/open-payments.ts'
import { servePlatform } from '../../adapters/platform/platform.ts'
import { loadConfig } from '../../src/config/config.ts'
import { Config } from '../../src/config/config-schema.ts'
import { createLog } from '../../src/config/log.ts'
import { createGateway } from '../../src/gateway.ts'
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

  it('replays a metered call only for the credential that paid for it', async (t) => {
    const data = join(folder, 'platform')
    mkdirSync(data)
    const tempoConfig = { enabled: true, recipient: RECIPIENT, methods: ['tempo'], tempo: { rpc_url: anvil.url } }
    writeFileSync(join(data, 'config.json'), JSON.stringify({ mpp: tempoConfig }))
    const env = { GAZEWAY_MPP_SECRET_KEY: 'x'.repeat(32) }
    const loaded = await loadConfig({ env, flags: { data, upstream: 'sandbox', platformPort: '0' } })
    const gateway = await createGateway(loaded, createLog({ level: 'silent', secrets: () => loaded.secrets }))
    const listening = await servePlatform(gateway, {
      agentGateway: { url: 'http://127.0.0.1:9', key: null, isOwn: false, admit: () => null },
      payments: await openPayments(gateway),
    })
    t.after(async () => {
      await listening.stop()
      await gateway.close()
    })
    const caller_id = privateKeyToAccount(KEYS[0]).address.toLowerCase()
    const call = { caller_id, model: 'llm-4.20-0309-reasoning', prompt: 'The sky is blue.', max_tokens: 50 }
    const send = (authorization?: string) =>
      fetch(`${listening.url}/api/wallet/metered/call`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'idempotency-key': 'once',
          ...(authorization !== undefined && { authorization }),
        },
        body: JSON.stringify(call),
      })
    const credential = await payer(KEYS[0]).createCredential(await send())
    const stranger = await payer(KEYS[1]).createCredential(await send())
    const first = await send(credential)
    assert.equal(first.status, 200, await first.clone().text())
    const again = await send(credential)
    assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [200, 'true'])
    assert.deepEqual(await again.json(), await first.json())
    assert.deepEqual([(await send()).status, (await send(stranger)).status], [402, 402])
  })
})

function clientOf(url: string) {
  return createClient({
    chain: defineChain({ ...tempoModerato, rpcUrls: { default: { http: [url] } } }),
    transport: http(url),
    pollingInterval: 100,
  })
}
