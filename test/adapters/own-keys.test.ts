import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { WebSocket } from 'ws'
import type { CallRecord } from '../../src/calls/call-record.ts'
import * as anthropic from '../doubles/anthropic.ts'
import * as double from '../doubles/upstream.ts'
import { ask, errorOf, type RunningPlatform, startPlatform } from './platform.ts'

/** Credentials of clients. The doubles answer to them and to ours, and refuse all others as their originals do. */
const OWN_KEY = 'sk-own-0123456789abcdef'
const PLAN = 'sk-ant-oat01-plan-of-a-person'
const WRONG = 'sk-wrong-0123456789abcdef'
const OURS = 'sk-ours-0123456789abcdef'
const KNOWN = [OWN_KEY, PLAN, OURS]
/** Keys for two providers, of which nobody says the right one. */
const TWO = { 'x-api-key': OWN_KEY, 'x-goog-api-key': WRONG }

const MESSAGES = [{ role: 'user', content: 'Say hello.' }]
const CLAUDE = { model: 'claude', max_tokens: 50, messages: MESSAGES }
const CHAT = { model: 'openai/gpt', messages: MESSAGES }

describe('the credentials of clients', () => {
  let running: RunningPlatform
  let claude: double.UpstreamDouble
  let gpt: double.UpstreamDouble
  let other: double.UpstreamDouble
  let thief: string

  /** Answers to a known credential; tells an unknown one back, as careless providers do. */
  const guarded =
    (behaviour: double.Behaviour): double.Behaviour =>
    (response, request) => {
      const { authorization = '', 'x-api-key': key } = request.headers
      const secret = String(key ?? authorization.replace('Bearer ', ''))
      if (KNOWN.includes(secret)) return behaviour(response, request)
      return double.json(401, { error: { message: `Incorrect API key provided: ${secret}` } })(response, request)
    }

  before(async () => {
    ;[claude, gpt, other] = await Promise.all([double.startUpstream(), double.startUpstream(), double.startUpstream()])
    running = await startPlatform(other.url, {
      document: {
        upstreams: {
          anthropic: {
            base_url: claude.url,
            api_keys: [OURS, `${OURS}-2`],
            headers: { 'x-api-key': 'sk-of-the-headers', 'x-region': 'eu' },
            own_keys: 'allow',
            passthrough_credentials: true,
          },
          openai: { base_url: gpt.url, own_keys: 'allow', passthrough_credentials: true },
          closed: { provider: other.url, api_keys: [OURS] },
          keyless: { provider: 'openai', proxy: 'http://127.0.0.1:1' },
        },
        routes: [{ model: 'claude', to: ['anthropic/claude', 'closed/m'], hedge_after_ms: 1 }],
        audit: { store_content: true },
      },
    })
    const scopes = ['inference', 'platform'] as const
    const limits = { budgets: [{ usd: 0.000001, per: 'total' as const }], credit_limit_usd: 0 }
    thief = (
      await running.gateway.keys.create({ name: 'thief', scopes: [...scopes], limits, models: ['*claude*', '*gpt*'] })
    ).key
    claude.on('/messages', guarded(double.json(200, anthropic.message('Hello.'))))
    claude.on('/messages/count_tokens', guarded(double.json(200, { input_tokens: 7 })))
    gpt.on('/chat/completions', guarded(double.json(200, double.completion('Hello.'))))
    gpt.on('/responses', guarded(double.json(200, double.response('Hello.'))))
    gpt.on('/embeddings', guarded(double.json(200, { object: 'list', data: [], usage: { total_tokens: 8 } })))
    gpt.on('/files', guarded(double.json(200, { object: 'list', data: [] })))
    other.on('/chat/completions', double.json(200, double.completion('At our cost.')))
  })
  beforeEach(() => {
    for (const upstream of [claude, gpt, other]) upstream.received.length = 0
  })
  after(async () => {
    await running.close()
    await Promise.all([claude, gpt, other].map((one) => one.close()))
  })

  /** Asks the gateway over HTTP. */
  const post = (path: string, body: object | null, headers: Record<string, string>, at = running.gatewayUrl) =>
    fetch(at + path, {
      method: body === null ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== null && { body: JSON.stringify(body) }),
    })
  const newest = async (): Promise<CallRecord | undefined> => {
    await running.gateway.calls.flush()
    return (await running.gateway.calls.history({ limit: 1 })).items[0]
  }
  const count = () => claude.received.length + gpt.received.length + other.received.length

  const PATHS: [path: string, body: object | null, upstream: 'claude' | 'gpt'][] = [
    ['/v1/chat/completions', CHAT, 'gpt'],
    ['/v1/responses', { model: 'openai/gpt', input: 'Hello' }, 'gpt'],
    ['/v1/messages', CLAUDE, 'claude'],
    ['/v1/chat/completions', CLAUDE, 'claude'],
    ['/v1/messages/count_tokens', { model: 'claude', messages: MESSAGES }, 'claude'],
    ['/v1/embeddings', { model: 'openai/gpt', input: 'Hello' }, 'gpt'],
    ['/v1beta/models/claude:generateContent', { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }, 'claude'],
  ]
  for (const [path, body, upstream] of PATHS)
    it(`uses a key for the provider at ${path} of ${upstream} at no cost`, async () => {
      for (const at of path.startsWith('/v1/') ? [running.gatewayUrl, running.url] : [running.gatewayUrl]) {
        const reply = await post(path, body, { authorization: `Bearer ${thief}`, 'x-provider-key': OWN_KEY }, at)
        assert.equal(reply.status, 200, await reply.text())
        const sent = (upstream === 'claude' ? claude : gpt).received.at(-1)?.headers ?? {}
        const proof = upstream === 'claude' ? sent['x-api-key'] : sent.authorization?.replace('Bearer ', '')
        assert.equal(proof, OWN_KEY)
        assert.doesNotMatch(JSON.stringify(sent), /sk-ours|sk-of-the-headers|gzw_|x-provider-key|x-gazeway-key/)
        assert.equal(upstream === 'claude' ? sent['x-region'] : undefined, upstream === 'claude' ? 'eu' : undefined)
        const { upstream_cost_usd, price_from, provider_key, status } = (await newest()) ?? {}
        assert.deepEqual([upstream_cost_usd, price_from, provider_key, status], [0, 'own_key', null, 'ok'])
      }
      assert.equal(other.received.length, 0)
    })

  it('uses it on a socket', async () => {
    gpt.on('/responses', guarded(double.sse(double.responseEvents(['Hello.']))))
    const headers = { authorization: `Bearer ${thief}`, 'x-provider-key': OWN_KEY }
    const ws = new WebSocket(`${running.gatewayUrl.replace('http', 'ws')}/v1/responses`, { headers })
    await once(ws, 'open')
    ws.send(JSON.stringify({ type: 'response.create', model: 'openai/gpt', input: 'Hello' }))
    await new Promise<void>((resolve) => {
      ws.on('message', (data) => String(data).includes('response.completed') && resolve())
    })
    ws.terminate()
    assert.equal(gpt.received.at(-1)?.headers.authorization, `Bearer ${OWN_KEY}`)
  })

  it('answers to a wrong key with the refusal of its provider, at no cost and without effect on ours', async () => {
    for (let n = 0; n < 6; n++) {
      const reply = await post('/v1/messages', CLAUDE, { 'x-api-key': thief, 'x-provider-key': WRONG })
      const text = await reply.text()
      assert.equal(reply.status, 401)
      assert.ok(text.includes('***') && !text.includes(WRONG), text)
    }
    assert.deepEqual([claude.received.length, other.received.length], [6, 0], 'no retry, no fallback, no hedge')
    const { error, price_from, upstream_cost_usd } = (await newest()) ?? {}
    assert.match(String(error), /\*\*\*/)
    assert.deepEqual([price_from, upstream_cost_usd], ['own_key', 0])
    claude.on('/messages', double.fails(429, { 'retry-after': '600' }))
    await post('/v1/messages', CLAUDE, { 'x-api-key': thief, 'x-provider-key': OWN_KEY })
    claude.on('/messages', guarded(double.json(200, anthropic.message('Hello.'))))
    const { items } = (await (await ask(running, 'GET', '/api/upstreams', { key: running.admin })).json()) as {
      items: { name: string; open_circuits: unknown[]; resting_keys: unknown[]; recent: { calls: number } }[]
    }
    const state = items.find(({ name }) => name === 'anthropic')
    assert.ok(state !== undefined)
    assert.doesNotMatch(JSON.stringify(state), /"(?:resting|open)\w*":\[\{/)
    const ours = await post('/v1/messages', CLAUDE, { authorization: `Bearer ${running.admin}` })
    assert.equal(ours.status, 200)
    assert.match(String(claude.received.at(-1)?.headers['x-api-key']), /^sk-ours/)
    const broke = await post('/v1/messages', CLAUDE, { 'x-api-key': thief })
    assert.equal(broke.status, 402, 'without a key of its own, its budget holds')
  })

  it('costs nothing where a refusal had usage before the request was mended', async () => {
    const message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    const error = { message, param: 'max_tokens', code: 'unsupported_parameter' }
    const refusal = double.json(400, { error, usage: { prompt_tokens: 1e6, completion_tokens: 1e6 } })
    const answer = guarded(double.json(200, double.completion('Hello.')))
    gpt.on('/chat/completions', (response, request) =>
      (request.text.includes('"max_tokens"') ? refusal : answer)(response, request),
    )
    const asked = { ...CHAT, model: 'openai/gpt-5', max_tokens: 20 }
    const reply = await post('/v1/chat/completions', asked, {
      authorization: `Bearer ${thief}`,
      'x-provider-key': OWN_KEY,
    })
    gpt.on('/chat/completions', answer)
    assert.deepEqual([reply.status, gpt.received.length], [200, 2], await reply.text())
    const { upstream_cost_usd, price_from } = (await newest()) ?? {}
    assert.deepEqual([upstream_cost_usd, price_from], [0, 'own_key'])
  })

  it('passes the plan of a person to its provider unchanged', async () => {
    const own = { 'x-gazeway-key': thief, authorization: `Bearer ${PLAN}`, 'user-agent': 'agent/1' }
    const cases: [string, object, double.UpstreamDouble][] = [
      ['/v1/messages', CLAUDE, claude],
      ['/v1/messages/count_tokens', { model: 'claude', messages: MESSAGES }, claude],
      ['/v1/chat/completions', CHAT, gpt],
    ]
    for (const at of [running.gatewayUrl, running.url])
      for (const [path, body, upstream] of cases) {
        const reply = await post(path, body, own, at)
        assert.equal(reply.status, 200, await reply.text())
        const { headers } = upstream.received.at(-1) as double.Received
        const { authorization, 'x-api-key': key, 'user-agent': agent } = headers
        assert.deepEqual([authorization, key, agent], [own.authorization, undefined, 'agent/1'])
        assert.equal((await newest())?.price_from, 'own_plan')
      }
  })

  it('never sends them where they do not belong', async () => {
    const plan = { 'x-gazeway-key': thief, authorization: `Bearer ${PLAN}` }
    const key = { authorization: `Bearer ${running.admin}`, 'x-provider-key': OWN_KEY }
    const chat = (model: string) => ({ model, messages: MESSAGES })
    const refused: [string, object | null, Record<string, string>, number, string][] = [
      // An upstream that has allowed neither, and the address that serves every other model.
      ['/v1/chat/completions', chat('closed/m'), key, 403, 'own_key_refused'],
      ['/v1/chat/completions', chat('any'), key, 403, 'own_key_refused'],
      ['/v1/chat/completions', chat('any'), { ...plan, 'x-gazeway-key': running.admin }, 403, 'own_key_refused'],
      // Another API than that of the plan, and what is not one of its endpoints.
      ['/v1/chat/completions', CLAUDE, plan, 403, 'own_key_refused'],
      ['/v1/messages', { ...CLAUDE, model: 'openai/gpt' }, plan, 403, 'permission_error'],
      ['/v1/embeddings', { model: 'openai/gpt', input: 'Hi' }, plan, 403, 'own_key_refused'],
      ['/v1/files', null, plan, 403, 'own_key_refused'],
      // What cannot be read as one credential.
      ['/v1/chat/completions', CHAT, { ...key, 'x-provider-key': 'short' }, 400, 'validation_failed'],
      ['/v1/chat/completions', CHAT, { ...key, 'x-provider-key': `${OWN_KEY}, ${WRONG}` }, 400, 'validation_failed'],
      ['/v1/chat/completions', CHAT, { ...plan, authorization: 'Basic YTpiYmJiYmI=' }, 400, 'validation_failed'],
      ['/v1/chat/completions', CHAT, { ...plan, 'x-provider-key': OWN_KEY }, 400, 'validation_failed'],
      ['/v1/chat/completions', CHAT, { ...plan, authorization: `Bearer ${PLAN} behind-it` }, 400, 'validation_failed'],
      ['/v1/chat/completions', CHAT, { 'x-gazeway-key': thief, ...TWO }, 400, 'validation_failed'],
      // Keys of the gateway, which no provider may learn.
      ['/v1/chat/completions', CHAT, { ...key, 'x-provider-key': running.admin }, 400, 'validation_failed'],
      ['/v1/messages', CLAUDE, { 'x-api-key': thief, 'x-provider-key': thief }, 400, 'invalid_request_error'],
      // Limits of the key that are not about money.
      [
        '/v1/chat/completions',
        chat('openai/o3'),
        { ...key, authorization: `Bearer ${thief}` },
        403,
        'model_not_allowed',
      ],
      ['/v1/chat/completions', CHAT, { ...key, authorization: `Bearer ${OWN_KEY}` }, 401, 'invalid_api_key'],
    ]
    for (const [path, body, headers, status, code] of refused) {
      const reply = await post(path, body, headers)
      const text = await reply.text()
      assert.ok(reply.status === status && text.includes(code), `${path} ${JSON.stringify(headers)}: ${text}`)
      assert.doesNotMatch(text, /sk-own|sk-ant|sk-wrong|YTpi|gzw_|behind-it/)
    }
    const metered = { caller_id: thief, model: 'llm-4-1-fast-reasoning', prompt: 'Hi' }
    const call = await ask(running, 'POST', '/api/wallet/metered/call', {
      body: metered,
      headers: { 'x-provider-key': OWN_KEY },
    })
    assert.equal((await errorOf(call)).code, 'own_key_refused')
    const ws = new WebSocket(`${running.url.replace('http', 'ws')}/agent`, { headers: key })
    const [, { statusCode }] = await once(
      ws.on('error', () => {}),
      'unexpected-response',
    )
    assert.equal(statusCode, 403, 'a chat of the agent would be made with our key')
    assert.equal(count(), 0)
  })

  it('takes the key of an agent that can send it in the header of its provider alone', async () => {
    for (const name of ['x-api-key', 'x-goog-api-key']) {
      const reply = await post('/v1/messages', CLAUDE, { 'x-gazeway-key': thief, [name]: OWN_KEY })
      assert.equal(reply.status, 200)
      assert.equal(claude.received.at(-1)?.headers['x-api-key'], OWN_KEY)
      assert.equal((await newest())?.price_from, 'own_key')
    }
  })

  it('takes it beside the key of the gateway in the header of another provider, and in the query of Google', async () => {
    const body = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }
    const google = '/v1beta/models/claude:generateContent'
    const cases: [string, object, Record<string, string>, string][] = [
      ['/v1/messages', CLAUDE, { 'x-api-key': thief, 'x-goog-api-key': OWN_KEY }, running.gatewayUrl],
      [`${google}?key=${OWN_KEY}`, body, {}, running.gatewayUrl],
      [`${google}?key=${OWN_KEY}`, body, {}, running.url],
    ]
    for (const [path, asked, headers, at] of cases) {
      const reply = await post(path, asked, { 'x-gazeway-key': thief, ...headers }, at)
      assert.equal(reply.status, 200, await reply.text())
      assert.equal(claude.received.at(-1)?.headers['x-api-key'], OWN_KEY)
    }
  })

  it('asks again with the right key under the Idempotency-Key of a wrong one, and then no more', async () => {
    const replies: [number, string | null][] = []
    for (const own of [WRONG, OWN_KEY, OWN_KEY]) {
      const headers = { authorization: `Bearer ${thief}`, 'idempotency-key': 'once', 'x-provider-key': own }
      const reply = await post('/v1/chat/completions', CHAT, headers)
      replies.push([reply.status, reply.headers.get('idempotent-replayed')])
    }
    assert.deepEqual(replies, [
      [401, null],
      [200, null],
      [200, 'true'],
    ])
  })

  it('compacts a conversation at a provider for which we have no key', async () => {
    const headers = { authorization: `Bearer ${running.admin}`, 'x-provider-key': OWN_KEY }
    const reply = await post('/v1/responses/compact', { model: 'keyless/gpt-5', input: 'Hi' }, headers)
    assert.equal(reply.status, 502, 'its proxy cannot be reached')
    assert.equal((await newest())?.path, '/v1/responses/compact')
  })

  it('takes the same key in either place as no credential', async () => {
    const both = { 'x-gazeway-key': running.admin, authorization: `Bearer ${running.admin}` }
    assert.equal((await post('/v1/messages', CLAUDE, both)).status, 200)
    assert.match(String(claude.received.at(-1)?.headers['x-api-key']), /^sk-ours/)
    assert.equal((await post('/v1/models', null, { ...both, authorization: `Bearer ${PLAN}` })).status, 200)
  })

  it('leaves no trace of them in the store, the log and the metrics', async () => {
    await running.gateway.calls.flush()
    const metrics = await (await fetch(`${running.gatewayUrl}/metrics`)).text()
    const log = running.logged.join('')
    const folder = running.gateway.loaded.dataDir
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
      .filter((file) => file.isFile())
      .map((file) => readFileSync(join(file.parentPath, file.name), 'latin1'))
    assert.ok(files.join('').includes('Say hello.'), 'the store holds content')
    for (const secret of [OWN_KEY, PLAN, WRONG])
      for (const [where, text] of [
        ['log', log],
        ['metrics', metrics],
        ['files', files.join('\n')],
      ] as const)
        assert.ok(!text.includes(secret), `the ${where} hold ${secret}`)
    const spent = await running.gateway.store.db.selectFrom('metered_usage').selectAll().execute()
    assert.deepEqual(spent, [], 'nothing was charged')
  })
})
