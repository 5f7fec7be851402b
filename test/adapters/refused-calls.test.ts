import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { Hono } from 'hono'
import { clientAddresses } from '../../adapters/web/client-address.ts'
import { fastLane } from '../../adapters/web/fast-lane.ts'
import type { Frame } from '../../adapters/web/frame-context.ts'
import { liveHostRules } from '../../adapters/web/live-rules.ts'
import { callPath, refusedCalls } from '../../adapters/web/refused-calls.ts'
import { serve } from '../../adapters/web/serve.ts'
import { GazewayError } from '../../src/errors.ts'
import { type RunningPlatform, startPlatform } from './platform.ts'
import { connectWithKey } from './socket-client.ts'

const CHAT = { messages: [{ role: 'user', content: 'Hello' }] }
const CALL = { model: 'llm-4-1-fast-reasoning', prompt: 'Hello', max_tokens: 100 }

let running: RunningPlatform
before(async () => {
  running = await startPlatform('sandbox', { document: { http: { rate_limit: { requests_per_minute: 3 } } } })
})
after(() => running.close())

const post = async (url: string, body: unknown, key?: string): Promise<number> => {
  const headers = { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) }
  const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  await reply.arrayBuffer()
  return reply.status
}

/** The refusals that are noted while `work` is done, the oldest first. */
async function refusedDuring(work: () => Promise<unknown>) {
  const seen = new Set((await running.gateway.calls.history({ limit: 1000 })).items.map(({ call_id }) => call_id))
  await work()
  const { items } = await running.gateway.calls.history({ limit: 1000, status: 'refused' })
  return items
    .filter(({ call_id }) => !seen.has(call_id))
    .map(({ surface, path, caller_id, http_status, error }) => [
      surface,
      path,
      caller_id,
      http_status,
      error?.split(':')[0],
    ])
    .reverse()
}

it('notes calls without a key or with a wrong one, on both services, and nothing else that is refused', async () => {
  const { url, gatewayUrl } = running
  const found = await refusedDuring(async () => {
    assert.equal(await post(`${gatewayUrl}/v1/chat/completions`, CHAT), 401)
    assert.equal(await post(`${gatewayUrl}/v1/anything/at?all`, CHAT, 'gzw_wrong'), 401)
    assert.equal(await post(`${url}/v1/responses`, {}), 401)
    assert.equal(await post(`${url}/api/wallet/metered/call`, { caller_id: 'nobody', ...CALL }), 401)
    assert.equal(await post(`${url}/api/tasks`, { title: 'Do it' }), 401)
    assert.equal(await post(`${gatewayUrl}/memory/store`, { key: 'a', value: 'b' }), 401)
  })
  const refused = (surface: string, path: string) => [surface, path, null, 401, 'invalid_api_key']
  assert.deepEqual(found, [
    refused('http', '/v1/chat/completions'),
    refused('http', '/v1/*'),
    refused('platform', '/v1/responses'),
    refused('platform', '/api/wallet/metered/call'),
  ])
})

it('notes what a key may not, cannot pay for, or asks too often, under its id', async () => {
  const { gateway, gatewayUrl, url } = running
  const { key, record } = await gateway.keys.create({
    name: 'poor',
    scopes: ['platform'],
    limits: { credit_limit_usd: 0 },
  })
  const found = await refusedDuring(async () => {
    assert.equal(await post(`${gatewayUrl}/v1/chat/completions`, CHAT, key), 403)
    for (const status of [402, 402, 402, 429])
      assert.equal(await post(`${url}/api/wallet/metered/call`, { caller_id: key, ...CALL }), status)
    const sessionChat = `${url}/api/sessions/ses_0123/chat`
    assert.equal(await post(sessionChat, { message: 'Hello' }, key), 429)
  })
  const metered = (status: number, code: string) => ['platform', '/api/wallet/metered/call', record.id, status, code]
  assert.deepEqual(found, [
    ['http', '/v1/chat/completions', record.id, 403, 'insufficient_scope'],
    ...Array.from({ length: 3 }, () => metered(402, 'insufficient_credit')),
    metered(429, 'rate_limited'),
    ['platform', '/api/sessions/{id}/chat', record.id, 429, 'rate_limited'],
  ])
  const { groups } = await gateway.calls.stats({ group_by: 'caller' })
  assert.equal(groups.find((group) => group.key === record.id)?.refused, 6)
})

it('names the model that a refused call asked for, whether its body was read before or not', async () => {
  const { gateway, gatewayUrl, url } = running
  const limits = { credit_limit_usd: 0 }
  const broke = await gateway.keys.create({ name: 'broke', scopes: ['platform'], limits })
  const limited = await gateway.keys.create({ name: 'limited', scopes: ['inference'], models: ['allowed'] })
  const chat = { ...CHAT, model: 'asked-for' }
  const found: [status: number, model: string | null][] = []
  const asks = async (expected: number, ...[to, body, key]: Parameters<typeof post>) => {
    const before = new Set((await gateway.calls.history({ limit: 1000 })).items.map(({ call_id }) => call_id))
    assert.equal(await post(to, body, key), expected)
    const { items } = await gateway.calls.history({ limit: 1000 })
    const [made, ...others] = items.filter(({ call_id }) => !before.has(call_id))
    assert.deepEqual([made?.status, others], ['refused', []])
    found.push([expected, made?.requested_model ?? null])
  }
  const completions = `${gatewayUrl}/v1/chat/completions`
  await asks(401, completions, chat, 'gzw_wrong')
  // A large body of a stranger is not read.
  await asks(401, completions, { ...chat, user: 'x'.repeat(20_000) })
  await asks(403, completions, chat, broke.key)
  await asks(403, completions, { ...chat, user: 'x'.repeat(300_000) }, broke.key)
  for (const path of ['/chat/completions', '/responses', '/embeddings'])
    await asks(403, `${gatewayUrl}/v1${path}`, { ...chat, input: 'Hello' }, limited.key)
  await asks(429, completions, chat, limited.key)
  await asks(402, `${url}/api/wallet/metered/call`, { caller_id: broke.key, ...CALL }, broke.key)
  assert.deepEqual(found, [
    [401, 'asked-for'],
    [401, null],
    [403, 'asked-for'],
    [403, null],
    ...Array.from({ length: 3 }, () => [403, 'asked-for']),
    [429, 'asked-for'],
    [402, CALL.model],
  ])
})

it('keeps the session and the tags of what is refused, before its key is known and after', async () => {
  const { gateway, gatewayUrl } = running
  const { key } = await gateway.keys.create({ name: 'tagged', scopes: ['inference'], models: ['allowed'] })
  for (const [bearer, session] of [
    ['gzw_wrong', 'refused-1'],
    [key, 'refused-2'],
  ] as const) {
    const reply = await fetch(`${gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${bearer}`,
        'content-type': 'application/json',
        'x-gazeway-session': session,
        'x-gazeway-tags': 'nightly',
      },
      body: JSON.stringify(CHAT),
    })
    assert.ok([401, 403].includes(reply.status), await reply.text())
    const { items } = await gateway.calls.history({ limit: 10, session })
    assert.deepEqual(
      items.map(({ status }) => status),
      ['refused'],
    )
    const tags = gateway.store.db
      .selectFrom('call_tags')
      .select('tag')
      .where('call_id', '=', items[0]?.call_id ?? '')
    assert.deepEqual(await tags.execute(), [{ tag: 'nightly' }])
  }
})

it('notes no request that is refused for what it holds', async () => {
  const { gateway, gatewayUrl } = running
  const { key } = await gateway.keys.create({
    name: 'wrong',
    scopes: ['inference'],
    limits: { budgets: [{ usd: 5, per: 'day' }] },
  })
  const count = async () => (await gateway.calls.history({ limit: 1000 })).items.length
  const before = await count()
  const completions = `${gatewayUrl}/v1/chat/completions`
  assert.equal(await post(completions, { ...CHAT, Max_Tokens: 9 }, key), 422)
  assert.equal(await post(completions, { ...CHAT, user: 'x'.repeat(33 << 20) }, key), 413)
  assert.equal(await count(), before)
})

it('notes what an endpoint of the fast lane refuses, once, under its key', async () => {
  const { gateway } = running
  const { key, record } = await gateway.keys.create({ name: 'fast', scopes: ['inference'] })
  // The lane takes callers who are known without a query.
  await gateway.keys.authenticate(key)
  const broke = new GazewayError('insufficient_credit', 'The balance is too low; top up.')
  const { log, keys } = gateway
  const lane = fastLane({
    endpoints: { '/v1/responses': () => Promise.reject(broke) },
    keys,
    scope: 'inference',
    hosts: liveHostRules(gateway),
    unlimited: () => true,
    began() {},
    log,
    refused: refusedCalls(gateway, 'http'),
  })
  const timeouts = { headerTimeoutMs: 10_000, requestTimeoutMs: 10_000, keepAliveMs: 75_000, drainMs: () => 10_000 }
  const addresses = clientAddresses([])
  const at = { host: '127.0.0.1', port: 0, flag: '--port' }
  const { url, stop } = await serve(new Hono<Frame>(), { ...at, ...timeouts, addresses, lane, log })
  const found = await refusedDuring(async () => assert.equal(await post(`${url}/v1/responses`, {}, key), 402))
  await stop()
  assert.deepEqual(found, [['http', '/v1/responses', record.id, 402, 'insufficient_credit']])
})

it('notes chats on the socket that are refused, and no other frames', async () => {
  const { key, record } = await running.gateway.keys.create({ name: 'talker', scopes: ['platform'] })
  const socket = await connectWithKey(running, key)
  const found = await refusedDuring(async () => {
    socket.send({ type: 'wallet_status' })
    assert.equal((await socket.next()).code, 'forbidden')
    for (const type of ['reply', 'reply', 'error']) {
      socket.send({ type: 'chat', content: 'Hello' })
      assert.equal((await socket.next()).type, type)
    }
  })
  socket.ws.close()
  await socket.closed
  assert.deepEqual(found, [['socket', '/agent', record.id, 429, 'rate_limited']])
})

it('counts them for the operator’s collector, and not as calls to an upstream', async () => {
  await post(`${running.gatewayUrl}/v1/chat/completions`, CHAT)
  const text = await (await fetch(`${running.gatewayUrl}/metrics`)).text()
  assert.match(text, /^gazeway_refused_calls_total\{http_status="401"\} [1-9]/m)
  assert.doesNotMatch(text, /gazeway_upstream_calls_total\{[^}]*refused/)
})

it('tells few routes apart, whatever is asked for', () => {
  const paths = ['/v1/chat/completions', '/v1/models/x', '/v1/../a', '/api/sessions/s/chat/stream', '/api/tasks', '/']
  assert.deepEqual(paths.map(callPath), [
    '/v1/chat/completions',
    '/v1/*',
    '/v1/*',
    '/api/sessions/{id}/chat',
    null,
    null,
  ])
})
