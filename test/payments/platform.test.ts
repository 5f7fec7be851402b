import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Credential } from 'mppx'
import { evm, Mppx } from 'mppx/client'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { serveHttp } from '../../adapters/http/http.ts'
import { openPayments } from '../../adapters/platform/payments/open-payments.ts'
import { servePlatform } from '../../adapters/platform/platform.ts'
import type { Listening } from '../../adapters/web/serve.ts'
import { agentGatewayTarget } from '../../src/agent-gateway/target.ts'
import { loadConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/config/log.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import type { Keep } from '../../src/idempotency/idempotency.ts'
import { createPasses } from '../../src/identity/passes.ts'
import type { Receipt } from '../../src/wallet/receipts/receipt.ts'
import { type Anvil, KEYS, startAnvil } from '../chain/anvil.ts'
import { deployToken, type Token } from '../chain/token.ts'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { spentBy } from './spent.ts'

describe('a platform that takes payments', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-payments-'))
  const payer = privateKeyToAccount(generatePrivateKey())
  let anvil: Anvil
  let token: Token
  let gateway: Gateway
  let payments: Awaited<ReturnType<typeof openPayments>>
  let http: Listening
  let listening: Listening

  before(async () => {
    anvil = await startAnvil({ chainId: 31_337 })
    token = await deployToken(anvil)
    await token.mint(payer.address, 5_000_000n)
    const { name: token_name, version: token_version } = token.domain
    const evmConfig = { chain_id: 31_337, rpc_url: anvil.url, token: token.address, token_name, token_version }
    writeFileSync(
      join(folder, 'config.json'),
      JSON.stringify({
        mpp: {
          enabled: true,
          recipient: token.address,
          min_deposit_usd: 0.1,
          requests_per_minute: 1000,
          evm: evmConfig,
        },
      }),
    )
    const env = { GAZEWAY_MPP_SECRET_KEY: 'x'.repeat(32), GAZEWAY_WALLET_PRIVATE_KEY: KEYS[0] }
    const loaded = await loadConfig({ env, flags: { data: folder, upstream: 'sandbox', port: '0', platformPort: '0' } })
    const log = createLog({ level: 'silent', secrets: () => loaded.secrets })
    gateway = await createGateway(loaded, log)
    payments = await openPayments(gateway)
    const passes = createPasses()
    http = await serveHttp(gateway, passes)
    listening = await servePlatform(gateway, {
      agentGateway: agentGatewayTarget(loaded.config, { url: http.url, passes }),
      payments,
    })
  })
  after(async () => {
    await listening.stop()
    await http.stop()
    await gateway.close()
    await anvil.stop()
    rmSync(folder, { recursive: true })
  })

  const client = (account = payer) =>
    Mppx.create({
      methods: [evm.charge({ account, authorization: token.domain })],
      polyfill: false,
    })
  const request = (caller_id: string, amount_usd: number): RequestInit => ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ caller_id, amount_usd }),
  })

  it('names payments among the features that are on', async () => {
    const status = await fetch(`${listening.url}/api/gateway-status`)
    assert.equal(((await status.json()) as { features: { payments: boolean } }).features.payments, true)
  })

  it('does not claim x402 in the registration of its agent, as MPP is another protocol', async () => {
    const file = await fetch(`${listening.url}/.well-known/agent-registration.json`)
    assert.equal(((await file.json()) as { x402Support: boolean }).x402Support, false)
  })

  it('credits a deposit to the caller that it names, once', async () => {
    const { record } = await gateway.keys.create({ name: 'caller' })
    const deposit = request(record.id, 1.5)
    const authorization = await client().createCredential(
      await fetch(`${listening.url}/api/wallet/metered/deposit`, deposit),
    )
    const paid = { ...deposit, headers: { 'content-type': 'application/json', authorization } }
    const response = await fetch(`${listening.url}/api/wallet/metered/deposit`, paid)
    assert.equal(response.status, 200)
    const receipt = (await response.json()) as { caller_id: string; available_usd: number; reference: string }
    assert.equal(receipt.caller_id, record.id)
    assert.equal(receipt.available_usd, 1.5)
    assert.match(receipt.reference, /^mpp:/)
    assert.equal((await fetch(`${listening.url}/api/wallet/metered/deposit`, paid)).status, 402)
    assert.equal((await gateway.wallet.balances(record.id)).available_usd, 1.5)
    assert.equal(await token.balanceOf(payer.address), 3_500_000n)
  })

  it('accepts a deposit only for the caller and amount that it names', async () => {
    const [a, b] = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`]
    const authorization = await client().createCredential(
      await fetch(`${listening.url}/api/wallet/metered/deposit`, request(a, 1)),
    )
    for (const other of [request(b, 1), request(a, 2)])
      assert.equal(
        (
          await fetch(`${listening.url}/api/wallet/metered/deposit`, {
            ...other,
            headers: { 'content-type': 'application/json', authorization },
          })
        ).status,
        402,
      )
    assert.equal(await token.balanceOf(payer.address), 3_500_000n)
  })

  it('keeps nothing under an Idempotency-Key but for those who pay', async () => {
    const deposit = (body: object, headers: Record<string, string> = {}) =>
      fetch(`${listening.url}/api/wallet/metered/deposit`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': 'order-1', ...headers },
        body: JSON.stringify(body),
      })
    const nobody = { caller_id: `key_${'0'.repeat(32)}`, amount_usd: 0.1 }
    assert.equal((await deposit(nobody)).status, 404)
    assert.equal((await deposit(nobody, { authorization: 'Payment forged' })).status, 404)
    const orders = [`0x${'d4'.repeat(20)}`, `0x${'e5'.repeat(20)}`].map((caller_id) => ({ caller_id, amount_usd: 0.1 }))
    for (const order of orders) {
      const authorization = await client().createCredential(await deposit(order))
      const first = await deposit(order, { authorization })
      assert.deepEqual([first.status, first.headers.get('idempotent-replayed')], [200, null])
      const again = await deposit(order, { authorization })
      assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [200, 'true'])
      assert.deepEqual(await again.json(), await first.json())
      assert.equal((await deposit(order)).status, 402, 'what one paid for is not shown to another')
      assert.equal((await gateway.wallet.balances(order.caller_id)).available_usd, 0.1)
    }
    const kept = await gateway.store.db.selectFrom('idempotency_keys').select('status').execute()
    assert.deepEqual(kept, [{ status: 200 }, { status: 200 }])
  })

  it('asks no deposit for a caller that does not exist', async () => {
    const response = await client().fetch(
      `${listening.url}/api/wallet/metered/deposit`,
      request(`key_${'0'.repeat(32)}`, 1),
    )
    assert.equal(response.status, 404)
  })

  it('leaves deposits without payment to admins', async () => {
    const url = `${listening.url}/api/wallet/metered/deposit`
    const body = JSON.stringify({ caller_id: `0x${'c3'.repeat(20)}`, amount_usd: 2, reference: 'cash' })
    const { key: admin } = await gateway.keys.create({ name: 'admin', scopes: ['admin'] })
    const { key: other } = await gateway.keys.create({ name: 'other', scopes: ['platform'] })
    const deposit = async (name: string, key: string) => {
      const headers = { 'content-type': 'application/json', [name]: key }
      return (await fetch(url, { method: 'POST', headers, body })).status
    }
    for (const [name, scheme] of [
      ['authorization', 'Bearer '],
      ['x-gazeway-key', ''],
    ] as const) {
      const statuses = [admin, other, 'gzw_none'].map((key) => deposit(name, scheme + key))
      assert.deepEqual(await Promise.all(statuses), [200, 403, 401], name)
    }
  })

  it('passes a paid request on to the gateway, in the name of the wallet that paid', async () => {
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'Say something.' }] })
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
    const response = await client().fetch(`${listening.url}/v1/chat/completions`, init)
    assert.equal(response.status, 200)
    assert.ok(response.headers.get('payment-receipt'))
    assert.match(await response.text(), /sandbox/)
    await gateway.calls.flush()
    const row = await gateway.store.db.selectFrom('calls').select('caller_id').executeTakeFirstOrThrow()
    assert.equal(row.caller_id, payer.address.toLowerCase())
    assert.equal(await token.balanceOf(payer.address), 3_210_000n)
  })

  for (const [what, behaviour] of [
    ['that has begun', double.sse(double.chunks(['Half an ']).slice(0, 2), 'hang')],
    ['that has not', double.hangs],
  ] as const)
    it(`credits a reply ${what} when the service ends it as it stops, once`, async (t) => {
      const leaving = privateKeyToAccount(generatePrivateKey())
      await token.mint(leaving.address, 90_000n)
      const agent = await double.startUpstream()
      agent.on('/chat/completions', behaviour)
      const serving = await servePlatform(gateway, {
        agentGateway: { url: agent.url.replace(/\/v1$/, ''), key: null, isOwn: false, admit: () => null },
        payments,
      })
      const asked = client(leaving).fetch(`${serving.url}/v1/chat/completions`, { method: 'POST', body: '{}' })
      const isAsked = () => agent.received.some(({ path }) => path === '/v1/chat/completions')
      await until(async () => isAsked())
      const reader = behaviour === double.hangs ? null : (await asked).body?.getReader()
      await reader?.read()
      t.mock.timers.enable({ apis: ['setTimeout'] })
      const stopped = serving.stop()
      t.mock.timers.tick(30_000)
      t.mock.timers.reset()
      if (reader) assert.match(Buffer.from((await reader.read()).value ?? []).toString(), /service_stopping/)
      else assert.equal((await asked).status, 503)
      await stopped
      await agent.close()
      assert.equal((await gateway.wallet.balances(leaving.address.toLowerCase())).available_usd, 0.09)
      assert.equal(await payments.sweep(100), 0)
    })

  describe('in a stream that began well', () => {
    const paying = privateKeyToAccount(generatePrivateKey())
    let agent: double.UpstreamDouble
    let serving: Listening

    before(async () => {
      await token.mint(paying.address, 5_000_000n)
      agent = await double.startUpstream()
      serving = await servePlatform(gateway, {
        agentGateway: { url: agent.url.replace(/\/v1$/, ''), key: null, isOwn: false, admit: () => null },
        payments,
      })
    })
    after(async () => {
      await serving.stop()
      await agent.close()
    })

    const ask = (path: string, behaviour: double.Behaviour) => {
      agent.on(path, behaviour)
      return client(paying).fetch(`${serving.url}/v1${path}`, { method: 'POST', body: '{}' })
    }
    const outcome = async () => {
      const latest = gateway.store.db.selectFrom('payments').select('status').orderBy('created_at', 'desc').limit(1)
      const status = async () => (await latest.executeTakeFirstOrThrow()).status
      await until(async () => ['served', 'credited'].includes(await status()))
      return status()
    }
    const pieces =
      (...parts: string[]): double.Behaviour =>
      async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        for (const part of parts) await new Promise((written) => response.write(part, written))
        response.end()
      }
    const error = { message: 'The model is overloaded.', code: 'overloaded' }
    const [choice = {}] = double.failedChoices
    const [began, ...goesOn] = double.responseEvents(['Half an '])
    const failed = { type: 'response.failed', response: { status: 'failed', output: [], error } }

    for (const [what, path, behaviour] of [
      [
        'a chat that breaks off',
        '/chat/completions',
        double.sse([...double.chunks(['Half an ']).slice(0, 2), { error }]),
      ],
      ['a chat whose choice fails', '/chat/completions', double.sse(double.failedChunks(['Half an '], choice))],
      ['a chat that is nothing else', '/chat/completions', double.sse([{ error }])],
      ['Responses', '/responses', double.sse([began, ...goesOn.slice(0, 3), { type: 'error', ...error }], 'none')],
      ['Responses that failed', '/responses', double.sse([began, ...goesOn.slice(0, 3), failed], 'none')],
      ['an event of that name', '/runs', pieces('data: {"delta": "a"}\n\nevent: error\ndata: {"message": "b"}\n\n')],
      ['one in two pieces, without its blank line', '/runs', pieces('data: {"err', 'or": {"message": "b"}}')],
    ] as const)
      it(`credits an error: ${what}`, async () => {
        const reply = await ask(path, behaviour)
        assert.equal(reply.status, 200)
        await reply.text()
        assert.equal(await outcome(), 'credited')
      })

    it('credits the key that the wallet is bound to by then, where the one of its payment was revoked', async () => {
      const wallet = paying.address.toLowerCase()
      const [old, next] = [
        await gateway.keys.create({ name: 'old', wallet }),
        await gateway.keys.create({ name: 'next', wallet }),
      ]
      const has = async (id: string) => Math.round((await gateway.wallet.balances(id)).available_usd * 1e6)
      const reply = await ask('/chat/completions', async (response) => {
        await gateway.keys.revoke(old.record.id)
        await double.fails(500)(response, {} as double.Received)
      })
      assert.equal(reply.status, 500)
      assert.equal(await outcome(), 'credited')
      const sum = await has(next.record.id)
      assert.ok(sum >= 90_000)
      assert.deepEqual([await has(old.record.id), await has(wallet)], [0, 0])

      // As another process does for one that died.
      const latest = gateway.store.db.selectFrom('payments').selectAll().orderBy('created_at', 'desc').limit(1)
      const died = {
        id: 'died',
        status: 'settled',
        lease_until: new Date(0).toISOString(),
        reference: null,
        proof: '0x0',
      }
      const row = { ...(await latest.executeTakeFirstOrThrow()), ...died }
      assert.equal(row.account, old.record.id, 'which a process of an earlier version would credit')
      await gateway.store.db.insertInto('payments').values(row).execute()
      await gateway.keys.revoke(next.record.id)
      await payments.sweep(100)
      assert.deepEqual([await has(next.record.id), await has(wallet)], [0, sum + 90_000])
    })

    it('credits an error whose client leaves at it', async () => {
      const reply = await ask('/chat/completions', double.sse([{ error }], 'hang'))
      const reader = reply.body?.getReader()
      assert.match(Buffer.from((await reader?.read())?.value ?? []).toString(), /overloaded/)
      await reader?.cancel()
      assert.equal(await outcome(), 'credited')
    })

    it('keeps the payment for a run whose tool failed', async () => {
      const tool = { event: 'tool.completed', tool: 'terminal', duration: 0.2, error: true }
      await (await ask('/runs', double.sse([tool, { event: 'run.completed', output: 'x' }], 'none'))).text()
      assert.equal(await outcome(), 'served')
    })

    it('asks for a reply in which errors can be seen, whatever compression its client takes', async () => {
      await (await ask('/chat/completions', double.sse([{ error }]))).text()
      assert.equal(agent.received.at(-1)?.headers['accept-encoding'], undefined)
      assert.equal(await outcome(), 'credited')
    })

    it('keeps the payment for an answer that only speaks of errors', async () => {
      const words = ['error', 'event: error\n\n', '"error": {}', 'response.failed']
      const tool = { type: 'response.output_item.done', item: { type: 'mcp_call', error: 'no such page' } }
      for (const [path, events] of [
        ['/chat/completions', double.chunks(words)],
        ['/responses', [began, tool, ...double.responseEvents(words).slice(1)]],
      ] as const) {
        await (await ask(path, double.sse([...events]))).text()
        assert.equal(await outcome(), 'served')
      }
    })
  })

  it('charges a metered call to the wallet that pays for it, and to no other', async () => {
    const call = (caller_id: string, headers: Record<string, string> = {}) =>
      fetch(`${listening.url}/api/wallet/metered/call`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({
          caller_id,
          model: 'llm-4.20-0309-reasoning',
          prompt: 'The sky is blue.',
          max_tokens: 50,
        }),
      })
    const challenge = await call(payer.address)
    assert.equal(challenge.status, 402)
    const { key } = await gateway.keys.create({ name: 'of another wallet', scopes: ['platform'] })
    const keyed = await call(payer.address, { 'x-gazeway-key': key })
    assert.equal(keyed.status, 401, 'a key pays for itself, however it is sent')
    const authorization = await client().createCredential(challenge)
    const stranger = await call('0x00000000000000000000000000000000000000aa', { authorization })
    assert.equal(stranger.status, 402, 'a payment for one wallet opens no other')

    const before = await gateway.wallet.balances(payer.address.toLowerCase())
    const paid = await call(payer.address, {
      authorization: await client().createCredential(await call(payer.address)),
    })
    assert.equal(paid.status, 200)
    assert.ok(paid.headers.get('payment-receipt'), 'with its receipt')
    const { billing } = (await paid.json()) as { billing: { total_usd: number } }
    const after = await gateway.wallet.balances(payer.address.toLowerCase())
    const micros = (usd: number) => Math.round(usd * 1e6)
    assert.equal(micros(after.available_usd), micros(before.available_usd) + 90_000 - micros(billing.total_usd))
    assert.equal(after.held_usd, 0)
  })

  describe('a metered call that a wallet pays for', () => {
    const caller = privateKeyToAccount(generatePrivateKey())
    const wallet = caller.address.toLowerCase()
    const CALL = { caller_id: wallet, model: 'llm-4.20-0309-reasoning', prompt: 'The sky is blue.', max_tokens: 50 }
    const send = (key: string, call: object, { authorization }: { authorization?: string } = {}) =>
      fetch(`${listening.url}/api/wallet/metered/call`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'idempotency-key': key,
          ...(authorization !== undefined && { authorization }),
        },
        body: JSON.stringify(call),
      })
    /** Answers a challenge, as an MPP client does. */
    const signed = async (by = caller, call: object = CALL) => ({
      authorization: await client(by).createCredential(await send('any', call)),
    })
    const left = () => token.balanceOf(caller.address)
    before(() => token.mint(caller.address, 900_000n))

    it('is answered again without another payment, whatever it is paid with, to that wallet alone', async () => {
      const credential = await signed()
      const first = await send('once', CALL, credential)
      assert.equal(first.status, 200)
      const receipt = await first.json()
      const paid = await left()
      for (const again of [credential, await signed()]) {
        const reply = await send('once', CALL, again)
        assert.deepEqual([reply.status, reply.headers.get('idempotent-replayed')], [200, 'true'])
        assert.deepEqual(await reply.json(), receipt)
      }
      assert.equal((await send('once', { ...CALL, prompt: 'Another.' }, await signed())).status, 422)
      const stranger = await signed(privateKeyToAccount(generatePrivateKey()))
      assert.deepEqual([(await send('once', CALL)).status, (await send('once', CALL, stranger)).status], [402, 402])
      assert.equal((await send('new', CALL, credential)).status, 402, 'a payment is good for one call')
      assert.equal(await left(), paid)
    })

    it('is paid for once where the process of the first died after its charge', async () => {
      await gateway.wallet.credit({ account: wallet, micros: 200_000, reference: 'died' })
      const { caller_id: callerId, ...call } = CALL
      const request = { scope: wallet, key: 'died', route: 'POST /api/wallet/metered/call', body: JSON.stringify(CALL) }
      const receipt = await new Promise<Receipt>((resolve) => {
        void gateway.idempotency.run(request, async (keep) => {
          const kept: Keep<Receipt> = (trx, made) => keep(trx, { status: 200, body: JSON.stringify(made) })
          resolve(
            await gateway.metering.call(call, { callerId, context: { surface: 'platform', callerId }, keep: kept }),
          )
          return new Promise(() => {})
        })
      })
      const paid = await left()
      const again = await send('died', CALL, await signed())
      assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [200, 'true'])
      assert.deepEqual(await again.json(), receipt)
      assert.equal(await left(), paid)
    })

    it('costs nothing while the first is under way, or where it cannot be made, and nothing is kept of it then', async () => {
      const paid = await left()
      const { run } = gateway.idempotency
      const route = 'POST /api/wallet/metered/call'
      let answer = (_: { status: number; body: string }) => {}
      const underWay = run({ scope: wallet, key: 'slow', route, body: JSON.stringify(CALL) }, () => {
        return new Promise((resolve) => {
          answer = resolve
        })
      })
      const credential = await signed()
      assert.equal((await send('slow', CALL, credential)).status, 409)
      answer({ status: 200, body: '{}' })
      await underWay
      const kept = () => gateway.store.db.selectFrom('idempotency_keys').select('key').execute()
      const before = await kept()
      for (const [status, wrong] of [
        [400, { model: 'gpt-4o' }],
        [422, { max_tokens: 1_000_000 }],
        [413, { prompt: 'x'.repeat(gateway.loaded.config.wallet.max_prompt_bytes + 1) }],
      ] as const)
        assert.equal((await send('wrong', { ...CALL, ...wrong }, credential)).status, status)
      assert.deepEqual(await kept(), before)
      assert.equal(await left(), paid)
      assert.equal((await send('right', CALL, credential)).status, 200, 'the credential was not used up')
    })
  })

  it('notes a call with a wrong key as refused, however the key is sent, and an offer to nobody as none', async () => {
    const path = '/v1/embeddings'
    for (const sent of [{}, { 'x-gazeway-key': 'gzw_none' }, { authorization: 'Bearer gzw_none' }]) {
      const headers = { 'content-type': 'application/json', ...sent }
      const init = { method: 'POST', headers, body: '{"model":"m","input":"x"}' }
      assert.equal((await fetch(listening.url + path, init)).status, 402)
    }
    await gateway.calls.flush()
    const { items } = await gateway.calls.history({ limit: 100, status: 'refused' })
    assert.equal(items.filter((call) => call.path === path).length, 2)
  })

  it('credits a deposit for a bound wallet to its key, and what that wallet pays for a call to itself', async () => {
    const bound = privateKeyToAccount(generatePrivateKey())
    const wallet = bound.address.toLowerCase()
    const { record } = await gateway.keys.create({ name: 'bound', wallet })
    await token.mint(bound.address, 590_000n)
    const deposit = request(bound.address, 0.5)
    const reply = await client(bound).fetch(`${listening.url}/api/wallet/metered/deposit`, deposit)
    assert.equal(((await reply.json()) as { caller_id: string }).caller_id, record.id)
    const call = { caller_id: wallet, model: 'llm-4.20-0309-reasoning', prompt: 'The sky is blue.', max_tokens: 50 }
    const called = await client(bound).fetch(`${listening.url}/api/wallet/metered/call`, {
      ...deposit,
      body: JSON.stringify(call),
    })
    const { billing } = (await called.json()) as { billing: { total_usd: number } }
    assert.equal((await gateway.wallet.balances(record.id)).available_usd, 0.5)
    const { available_usd } = await gateway.wallet.balances(wallet)
    assert.equal(Math.round(available_usd * 1e6), 90_000 - Math.round(billing.total_usd * 1e6))
  })

  it('refuses to start with payments that are not configured whole', async () => {
    const loaded = structuredClone(gateway.loaded)
    loaded.config.mpp.evm.token = null
    await assert.rejects(openPayments({ ...gateway, loaded }), (error: { code: string; message: string }) => {
      assert.equal(error.code, 'config_invalid')
      assert.match(error.message, /mpp\.evm\.token: missing/)
      return true
    })
  })

  it('refuses to start with a token that is wrong, and starts without its node, which it says in the log', async () => {
    const wrong = structuredClone(gateway.loaded)
    wrong.config.mpp.evm.decimals = 18
    await assert.rejects(openPayments({ ...gateway, loaded: wrong }), { code: 'config_invalid' })
    const away = structuredClone(gateway.loaded)
    away.config.mpp.evm.rpc_url = 'http://127.0.0.1:9'
    const warned: unknown[] = []
    await openPayments({ ...gateway, loaded: away, log: { ...gateway.log, warn: (line) => void warned.push(line) } })
    assert.deepEqual(warned, ['Payments are unavailable; each payment will check again.'])
  })

  it('says in the log which payment it has ended because its authorization was used for something else', async () => {
    const account = privateKeyToAccount(generatePrivateKey())
    const credential = await client(account).createCredential(await fetch(`${listening.url}/v1/models`))
    const { challenge, payload } = Credential.deserialize<Record<string, string>>(credential)
    const [payer, proof] = [account.address.toLowerCase(), payload.nonce as string]
    const long_ago = new Date(0).toISOString()
    await gateway.store.db
      .insertInto('payments')
      .values({
        ...{
          id: challenge.id,
          method: 'evm',
          payer,
          account: payer,
          amount_micros: 90_000,
          scope: 'GET /v1/models',
          proof,
        },
        ...{ reference: null, status: 'claimed', lease_until: long_ago, created_at: long_ago },
        expires_at: new Date(challenge.expires as string).toISOString(),
        account_named: 1,
      })
      .execute()
    await token.call('transferWithAuthorization', await spentBy(credential, account, { token, chainId: 31_337 }))
    const warned: unknown[] = []
    const log = { ...gateway.log, warn: (...line: unknown[]) => void warned.push(line), error: assert.fail }
    const payments = await openPayments({ ...gateway, log })
    await payments.sweep(100)
    await payments.sweep(100)
    const reason = 'Ended a payment without credit: its authorization was used for another transfer.'
    assert.deepEqual(warned, [[reason, { payment: challenge.id, method: 'evm', payer, proof }]])
  })
})
