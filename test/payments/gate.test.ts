import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Credential, Receipt } from 'mppx'
import { evm, Mppx } from 'mppx/client'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { serveHttp } from '../../adapters/http/http.ts'
import { openPayments, type PlatformPayments } from '../../adapters/platform/payments/open-payments.ts'
import { unfinishedPayments } from '../../adapters/platform/payments/unfinished-payments.ts'
import { servePlatform } from '../../adapters/platform/platform.ts'
import type { Listening } from '../../adapters/web/serve.ts'
import { agentGatewayTarget } from '../../src/agent-gateway/target.ts'
import { loadConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/config/log.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import { createPasses } from '../../src/identity/passes.ts'
import { leftUnfinished } from '../../src/payments/unfinished.ts'
import { type Anvil, KEYS, startAnvil } from '../chain/anvil.ts'
import { deployToken, type Token } from '../chain/token.ts'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { age } from './age.ts'

const CHAT = { messages: [{ role: 'user', content: 'Say something.' }] }
const CALL = { model: 'llm-4.20-0309-reasoning', prompt: 'The sky is blue.' }

describe('a request that is paid for', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-payments-'))
  let anvil: Anvil
  let token: Token
  let gateway: Gateway
  let payments: PlatformPayments
  let agent: double.UpstreamDouble
  let http: Listening
  /** Before this machine's own gateway, and before the double. */
  let own: Listening
  let remote: Listening

  before(async () => {
    anvil = await startAnvil({ chainId: 31_337 })
    token = await deployToken(anvil)
    const { name: token_name, version: token_version } = token.domain
    const evmConfig = { chain_id: 31_337, rpc_url: anvil.url, token: token.address, token_name, token_version }
    writeFileSync(
      join(folder, 'config.json'),
      JSON.stringify({ mpp: { enabled: true, recipient: token.address, evm: evmConfig } }),
    )
    const env = { GAZEWAY_MPP_SECRET_KEY: 'x'.repeat(32), GAZEWAY_WALLET_PRIVATE_KEY: KEYS[0] }
    const loaded = await loadConfig({ env, flags: { data: folder, upstream: 'sandbox', port: '0', platformPort: '0' } })
    gateway = await createGateway(loaded, createLog({ level: 'silent', secrets: () => loaded.secrets }))
    payments = await openPayments(gateway)
    const passes = createPasses()
    http = await serveHttp(gateway, passes)
    agent = await double.startUpstream()
    own = await servePlatform(gateway, {
      agentGateway: agentGatewayTarget(loaded.config, { url: http.url, passes }),
      payments,
    })
    remote = await servePlatform(gateway, {
      agentGateway: { url: agent.url.replace(/\/v1$/, ''), key: null, isOwn: false, admit: () => null },
      payments,
    })
  })
  after(async () => {
    await own.stop()
    await remote.stop()
    await http.stop()
    await agent.close()
    await gateway.close()
    await anvil.stop()
    rmSync(folder, { recursive: true })
  })

  async function wallet(units: bigint) {
    const account = privateKeyToAccount(generatePrivateKey())
    if (units > 0n) await token.mint(account.address, units)
    const client = Mppx.create({ methods: [evm.charge({ account, authorization: token.domain })], polyfill: false })
    const address = account.address.toLowerCase()
    return {
      address,
      fetch: client.fetch,
      sign: (challenged: Response) => client.createCredential(challenged),
      has: () => token.balanceOf(address),
      credit: async () => Math.round((await gateway.wallet.balances(address)).available_usd * 1e6),
      row: () =>
        gateway.store.db
          .selectFrom('payments')
          .selectAll()
          .where('payer', '=', address)
          .orderBy('created_at', 'desc')
          .limit(1)
          .executeTakeFirst(),
    }
  }
  const post = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const codeOf = async (response: Response) => ((await response.json()) as { error: { code: string } }).error.code

  describe('is refused before it is paid for', () => {
    const refusals: [string, string, RequestInit, number, string][] = [
      ['JSON that is none', '/v1/chat/completions', post('{"messages": ['), 400, 'invalid_json'],
      ['a body of another type', '/v1/responses', { ...post('{}'), headers: {} }, 415, 'unsupported_media_type'],
      ['a chat without messages', '/v1/chat/completions', post({}), 422, 'validation_failed'],
      ['an unknown path', '/v1/nowhere', post(CHAT), 404, 'not_found'],
      ['an unknown model', '/v1/models/none', {}, 404, 'not_found'],
      ['another method', '/v1/responses', {}, 405, 'method_not_allowed'],
      ['embeddings without a model', '/v1/embeddings', post({ input: 'x' }), 422, 'validation_failed'],
      ['an image, whose cost nobody knows', '/v1/images/generations', post({ model: 'm' }), 403, 'forbidden_path'],
      [
        'a stream under an Idempotency-Key',
        '/v1/chat/completions',
        post({ ...CHAT, stream: true }, { 'idempotency-key': 'once' }),
        422,
        'validation_failed',
      ],
    ]
    for (const [what, path, init, status, code] of refusals)
      it(what, async () => {
        const response = await fetch(own.url + path, init)
        assert.deepEqual([response.status, await codeOf(response)], [status, code])
        assert.equal(response.headers.get('www-authenticate'), null)
      })

    it('invalid JSON, for an agent gateway elsewhere', async () => {
      const response = await fetch(`${remote.url}/v1/runs`, post('{"input":'))
      assert.deepEqual([response.status, await codeOf(response)], [400, 'invalid_json'])
      assert.ok(!agent.received.some(({ path }) => path === '/v1/runs'))
    })

    it('a deposit below the minimum', async () => {
      const { address } = await wallet(0n)
      const response = await fetch(
        `${own.url}/api/wallet/metered/deposit`,
        post({ caller_id: address, amount_usd: 0.99 }),
      )
      assert.deepEqual([response.status, await codeOf(response)], [422, 'validation_failed'])
      assert.equal(
        (await fetch(`${own.url}/api/wallet/metered/deposit`, post({ caller_id: address, amount_usd: 1 }))).status,
        402,
      )
    })
  })

  it('passes its body on as it was sent', async () => {
    const payer = await wallet(90_000n)
    agent.on('/runs', double.json(200, { ok: true }))
    const body = '{"input":  "spaces stay"}'
    assert.equal((await payer.fetch(`${remote.url}/v1/runs`, post(body))).status, 200)
    assert.equal(agent.received.at(-1)?.text, body)
  })

  it('needs no payment with a key, and opens nothing else', async () => {
    const { key } = await gateway.keys.create({ name: 'caller', scopes: ['platform'] })
    const authorization = `Bearer ${key}`
    assert.equal((await fetch(`${own.url}/v1/models`, { headers: { authorization } })).status, 200)
    assert.equal((await fetch(`${own.url}/v1/models`, { headers: { authorization: 'Bearer gzw_none' } })).status, 402)
    const payer = await wallet(90_000n)
    const paid = { authorization: await payer.sign(await fetch(`${own.url}/v1/models`)) }
    assert.equal((await fetch(`${own.url}/api/wallet`, { headers: paid })).status, 401)
    assert.equal(await payer.has(), 90_000n)
  })

  it('is not billed again by any service behind /v1; the wallet pays once', async () => {
    agent.on('/chat/completions', double.json(200, double.completion('Hello.')), double.sse(double.chunks(['Hello.'])))
    for (const { url } of [own, remote]) {
      const payer = await wallet(180_000n)
      for (const stream of [false, true]) {
        const response = await payer.fetch(`${url}/v1/chat/completions`, post({ ...CHAT, stream }))
        assert.equal(response.status, 200)
        assert.equal(response.headers.get('x-gazeway-cost-usd'), null)
        assert.doesNotMatch(await response.text(), /x-gazeway-cost-usd/)
      }
      assert.deepEqual([await payer.has(), await payer.credit()], [0n, 0])
      assert.deepEqual((await gateway.wallet.usage({ caller_id: payer.address, limit: 10 })).items, [])
    }
  })

  it('may be for embeddings, which are passed on as they are', async () => {
    const payer = await wallet(90_000n)
    const response = await payer.fetch(`${own.url}/v1/embeddings`, post({ model: 'm', input: 'The sky is blue.' }))
    const { data } = (await response.json()) as { data: { embedding: unknown[] }[] }
    assert.equal(response.status, 200)
    assert.ok((data[0]?.embedding.length ?? 0) > 0)
    assert.deepEqual([await payer.has(), await payer.credit()], [0n, 0])
  })

  it('continues no Response of the tools on this machine', async () => {
    const context = { surface: 'stdio' as const, callerId: null }
    const { value } = await gateway.upstream.respond({ input: 'The access code is 1234.' }, context)
    const payer = await wallet(90_000n)
    const body = { input: 'What did I say?', previous_response_id: value.id }
    const response = await payer.fetch(`${own.url}/v1/responses`, post(body))
    assert.deepEqual([response.status, await codeOf(response)], [404, 'not_found'])
  })

  it('is not billed to the key that its wallet is bound to', async () => {
    const payer = await wallet(90_000n)
    const { record } = await gateway.keys.create({ name: 'bound', scopes: ['platform'], wallet: payer.address })
    const response = await payer.fetch(`${own.url}/v1/chat/completions`, post(CHAT))
    assert.deepEqual([response.status, response.headers.get('x-gazeway-cost-usd')], [200, null])
    assert.equal(await payer.has(), 0n)
    assert.deepEqual((await gateway.wallet.usage({ caller_id: record.id, limit: 10 })).items, [])
    const { items } = await gateway.calls.history({ caller_id: record.id, limit: 10 })
    assert.equal(items.length, 1, 'its call is in the trail all the same')
  })

  it('is billed on its key where it has one: short of credit it is refused, and no payment is offered or taken', async () => {
    agent.on('/chat/completions', double.json(200, double.completion('Hello.')))
    for (const { url } of [own, remote]) {
      const of = { name: 'caller', scopes: ['platform' as const] }
      const rich = await gateway.keys.create(of)
      const charged = await fetch(`${url}/v1/chat/completions`, post(CHAT, { authorization: `Bearer ${rich.key}` }))
      assert.equal(charged.status, 200)
      assert.ok(Number(charged.headers.get('x-gazeway-cost-usd')) >= 0.08)
      assert.equal((await gateway.wallet.usage({ caller_id: rich.record.id, limit: 10 })).items.length, 1)

      const poor = await gateway.keys.create({ ...of, limits: { credit_limit_usd: 0 } })
      const payer = await wallet(90_000n)
      const credential = await payer.sign(await fetch(`${url}/v1/chat/completions`, post(CHAT)))
      const asked = agent.received.filter(({ path }) => path === '/v1/chat/completions').length
      for (const beside of [{}, { 'payment-authorization': credential }]) {
        const headers = { authorization: `Bearer ${poor.key}`, ...beside }
        const refused = await fetch(`${url}/v1/chat/completions`, post(CHAT, headers))
        assert.deepEqual([refused.status, await codeOf(refused)], [402, 'insufficient_credit'])
        assert.equal(refused.headers.get('www-authenticate'), null)
      }
      assert.equal(agent.received.filter(({ path }) => path === '/v1/chat/completions').length, asked)
      assert.deepEqual([await payer.has(), await payer.row()], [90_000n, undefined])
    }
  })

  it('is asked for the most that a metered call can cost, and pays for it at once', async () => {
    const payer = await wallet(1_000_000n)
    const call = post({ caller_id: payer.address, ...CALL })
    const asked = await fetch(`${own.url}/api/wallet/metered/call`, call)
    const most = await gateway.metering.maxCostOf(CALL)
    assert.ok(most > 90_000, 'more than a request costs')
    const authorization = await payer.sign(asked)
    const { challenge } = Credential.deserialize(authorization)
    assert.equal(challenge.request.amount, String(most))
    const response = await fetch(
      `${own.url}/api/wallet/metered/call`,
      post({ caller_id: payer.address, ...CALL }, { authorization }),
    )
    assert.equal(response.status, 200, await response.clone().text())
    const { billing } = (await response.json()) as { billing: { total_usd: number; token: string } }
    assert.equal(billing.token, 'Test USD')
    assert.equal(gateway.wallet.pricing().token, 'Test USD')
    assert.equal(await payer.has(), 1_000_000n - BigInt(most))
    assert.equal(await payer.credit(), most - Math.round(billing.total_usd * 1e6))
  })

  it('spends what a wallet was credited with before it is settled, each credential once', async () => {
    const payer = await wallet(90_000n)
    agent.on('/runs', double.fails(500))
    const failed = await payer.fetch(`${remote.url}/v1/runs`, post({}))
    assert.deepEqual([failed.status, await payer.credit(), await payer.has()], [500, 90_000, 0n])

    // And again, in vain: what came out of the ledger goes back there.
    const again = await payer.fetch(`${remote.url}/v1/runs`, post({}))
    assert.deepEqual([again.status, await payer.credit()], [500, 90_000])
    assert.equal((await payer.row())?.status, 'credited')

    agent.on('/runs', double.json(200, { ok: true }))
    const authorization = await payer.sign(await fetch(`${remote.url}/v1/runs`, post({})))
    const replies = await Promise.all([1, 2, 3].map(() => fetch(`${remote.url}/v1/runs`, post({}, { authorization }))))
    assert.deepEqual(replies.map(({ status }) => status).toSorted(), [200, 402, 402])
    const served = replies.find(({ status }) => status === 200) as Response
    const { method, reference } = Receipt.fromResponse(served)
    assert.equal(method, 'credit')
    assert.equal(reference, `mpp:${Credential.deserialize(authorization).challenge.id}`)
    assert.deepEqual([await payer.credit(), await payer.has()], [0, 0n])
    assert.deepEqual((await gateway.wallet.verify()).faults, [])
  })

  it('gives credit back that a process had spent as it died, and as much of it from deposits', async () => {
    const payer = await wallet(0n)
    await gateway.wallet.credit({ account: payer.address, micros: 90_000, reference: `test:${payer.address}` })
    let answer = () => {}
    agent.on('/runs', async (response) => {
      await new Promise<void>((resolve) => {
        answer = resolve
      })
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}')
    })
    const asked = payer.fetch(`${remote.url}/v1/runs`, post({}))
    await until(async () => (await payer.credit()) === 0 && agent.received.at(-1)?.path === '/v1/runs')
    await age(gateway.store, 61_000)
    await payments.sweep(100)
    assert.equal(await payer.credit(), 90_000)
    answer()
    assert.equal((await asked).status, 504, 'and nobody gets the answer')
    assert.equal(await payer.credit(), 90_000)
    const { deposited_micros } = await gateway.store.db
      .selectFrom('ledger_accounts')
      .select('deposited_micros')
      .where('id', '=', `caller:${payer.address}`)
      .executeTakeFirstOrThrow()
    assert.equal(deposited_micros, 90_000)
  })

  it('charges a metered call to what its wallet has, where that is enough, and uses the credential up', async () => {
    const payer = await wallet(0n)
    await gateway.wallet.credit({ account: payer.address, micros: 1_000_000, reference: `test:${payer.address}` })
    const body = { caller_id: payer.address, ...CALL, max_tokens: 50 }
    const authorization = await payer.sign(await fetch(`${own.url}/api/wallet/metered/call`, post(body)))
    const send = () => fetch(`${own.url}/api/wallet/metered/call`, post(body, { authorization }))
    const [first, second] = [await send(), await send()]
    assert.deepEqual([first.status, second.status], [200, 402])
    assert.equal(Receipt.fromResponse(first).method, 'credit')
    const { billing } = (await first.json()) as { billing: { total_usd: number } }
    assert.equal(await payer.credit(), 1_000_000 - Math.round(billing.total_usd * 1e6))
  })

  it('is not answered once its payment was given back: neither served and credited', async () => {
    const payer = await wallet(90_000n)
    let answer = () => {}
    agent.on('/runs', async (response) => {
      await new Promise<void>((resolve) => {
        answer = resolve
      })
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"secret":"the answer"}')
    })
    const asked = payer.fetch(`${remote.url}/v1/runs`, post({}))
    await until(async () => (await payer.row())?.status === 'settled' && agent.received.at(-1)?.path === '/v1/runs')
    await age(gateway.store, 61_000)
    await payments.sweep(100)
    answer()
    const response = await asked
    assert.equal(response.status, 504)
    assert.doesNotMatch(await response.text(), /the answer/)
    assert.deepEqual([await payer.credit(), (await payer.row())?.status], [90_000, 'credited'])
  })

  it('is not answered to its end where its payment is given back meanwhile', async () => {
    const payer = await wallet(90_000n)
    let goOn = () => {}
    agent.on('/runs', async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      await new Promise((written) => response.write('data: {"part": 1}\n\n', written))
      await new Promise<void>((resolve) => {
        goOn = resolve
      })
      response.end()
    })
    const response = await payer.fetch(`${remote.url}/v1/runs`, post({}))
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    await age(gateway.store, 61_000)
    await payments.sweep(100)
    goOn()
    await assert.rejects(async () => {
      while (!(await reader.read()).done);
    })
    assert.deepEqual([await payer.credit(), (await payer.row())?.status], [90_000, 'credited'])
  })

  it('is credited under any later setting, and doctor names what is left', async () => {
    const payer = await wallet(90_000n)
    agent.on('/runs', double.json(200, { ok: true }))
    await payer.fetch(`${remote.url}/v1/runs`, post({}))
    const served = await payer.row()
    assert.ok(served)
    const died = { lease_until: new Date(0).toISOString(), reference: null, proof: '0x0' }
    const rows = (['settled', 'crediting'] as const).map((status) => ({ ...served, ...died, id: status, status }))
    await gateway.store.db.insertInto('payments').values(rows).execute()
    assert.match(String(await leftUnfinished(gateway.store)), /^2 payments, 0\.18 USD in all, .* not credited/)

    const loaded = structuredClone(gateway.loaded)
    loaded.config.mpp.enabled = false
    loaded.config.mpp.evm.token = null
    await unfinishedPayments({ ...gateway, loaded }).batch(100)
    assert.equal(await payer.credit(), 180_000)
    assert.equal(await leftUnfinished(gateway.store), null)
  })

  it('limits those who come without a key', async (t) => {
    await gateway.config.set({ 'mpp.requests_per_minute': 3 })
    t.after(() => gateway.config.set({ 'mpp.requests_per_minute': null }))
    const { address } = await wallet(0n)
    const statuses: number[] = []
    for (const [path, init] of [
      ['/v1/models', {}],
      ['/api/wallet/metered/deposit', post({ caller_id: address, amount_usd: 1 })],
      ['/api/wallet/metered/call', post({ caller_id: address, ...CALL })],
      ['/v1/models', {}],
      ['/api/wallet/metered/deposit', post({ caller_id: address, amount_usd: 1 })],
      ['/api/wallet/metered/call', post({ caller_id: address, ...CALL })],
    ] as [string, RequestInit][])
      statuses.push((await fetch(own.url + path, init)).status)
    assert.deepEqual(statuses, [402, 402, 402, 429, 429, 429])
    const { key } = await gateway.keys.create({ name: 'caller', scopes: ['platform'] })
    assert.equal((await fetch(`${own.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status, 200)
  })

  it('limits each client of a trusted proxy by itself', async (t) => {
    await gateway.config.set({ 'mpp.requests_per_minute': 2, 'http.trusted_proxies': ['127.0.0.1'] })
    t.after(() => gateway.config.set({ 'mpp.requests_per_minute': null, 'http.trusted_proxies': null }))
    const statuses: number[] = []
    for (const client of [
      '203.0.113.7',
      '203.0.113.7',
      '203.0.113.7',
      '203.0.113.8',
      '2001:db8::1',
      '2001:db8::2',
      '2001:db8::3',
    ])
      statuses.push((await fetch(`${own.url}/v1/models`, { headers: { 'x-forwarded-for': client } })).status)
    assert.deepEqual(statuses, [402, 402, 429, 402, 402, 402, 429])
  })
})
