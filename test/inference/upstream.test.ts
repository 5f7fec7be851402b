import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import type { CallContext } from '../../src/calls/call-record.ts'
import { type Calls, createCalls } from '../../src/calls/calls.ts'
import { createUpstream, type Upstream } from '../../src/inference/inference.ts'
import { createLateTerms } from '../../src/inference/settle/abandoned-answer.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { writeCallSpending } from '../../src/wallet/budget/allowances.ts'
import { serviceStopping } from '../../src/wire/service-stopping.ts'
import { freePort } from '../doubles/free-port.ts'
import { UNBILLED } from '../doubles/unbilled.ts'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'

const KEY = 'xai-secret-upstream-key'
const thought = { ...double.chunks([], null)[0], choices: [{ index: 0, delta: { reasoning_content: 'Hm.' } }] }
const ask = { messages: [{ role: 'user' as const, content: 'Say hello.' }] }
const quiet: CallContext = { surface: 'stdio', callerId: null }

describe('the upstream', () => {
  let folder: string
  let store: Store
  let calls: Calls
  let server: double.UpstreamDouble

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gazeway-'))
    store = await openStore(`sqlite:${join(folder, 'gazeway.db')}`)
    calls = createCalls({ store, onError: (error) => assert.fail(String(error)), writeSpending: writeCallSpending })
  })
  beforeEach(async () => {
    server = await double.startUpstream()
    await calls.flush()
    await store.db.deleteFrom('calls').execute()
    await store.db.deleteFrom('call_rollups').execute()
    await store.db.deleteFrom('call_totals').execute()
  })
  afterEach(() => server.close())
  after(async () => {
    await calls.flush()
    await store.close()
    rmSync(folder, { recursive: true })
  })

  function upstream(
    over: Partial<Parameters<typeof createUpstream>[0]['config']> = {},
    storeContent = false,
  ): Upstream {
    return createUpstream({
      config: {
        provider: server.url,
        api_key: KEY,
        headers: {},
        aliases: { 'llm-3-fast': 'double-chat' },
        models: { primary: 'llm-primary', fallback: 'llm-fallback', chat: 'llm-3-fast' },
        timeout_ms: 30_000,
        connect_timeout_ms: 5000,
        max_retries: 2,
        allowed_paths: ['/models', '/embeddings'],
        ...over,
      },
      calls,
      billing: UNBILLED,
      late: createLateTerms(2000),
      prices: { models: {}, price_per_1k_tokens_usd: 0.003 },
      storeContent,
      countTokens: async (text) => text.length,
    })
  }
  const history = async () => (await calls.history({ limit: 50 })).items
  const bodyOf = (at: number) => server.received[at]?.body as Record<string, unknown>

  it('completes a chat, sends the alias and the key, and records the call with its cost', async () => {
    server.on('/chat/completions', double.json(200, double.completion('Hello.')))
    const result = await upstream().chat(ask, quiet)
    assert.equal(result.value.choices[0]?.message.content, 'Hello.')
    assert.equal(bodyOf(0).model, 'double-chat')
    assert.equal(server.received[0]?.headers.authorization, `Bearer ${KEY}`)
    const [record] = await history()
    assert.equal(record?.call_id, result.callId)
    assert.deepEqual(record?.usage, { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 })
    assert.equal(record?.upstream_cost_usd, 0.000045)
    assert.deepEqual(
      [record?.requested_model, record?.model, record?.path, record?.status, record?.stream],
      ['llm-3-fast', 'double-chat', '/v1/chat/completions', 'ok', false],
    )
    assert.equal(record?.content, undefined, 'no content unless it is asked for')
  })

  for (const model of ['constructor', 'toString', '__proto__', 'hasOwnProperty'])
    it(`takes the model ${model} for a model like any other`, async () => {
      server.on('/chat/completions', double.json(200, double.completion('Hello.')))
      await upstream().chat({ ...ask, model }, quiet)
      assert.equal(bodyOf(0).model, model)
      const [record] = await history()
      assert.deepEqual([record?.requested_model, record?.model, record?.upstream_cost_usd], [model, model, 0.000045])
    })

  describe('a chat that is streamed', () => {
    const listening = { ...quiet, onText: () => {} }
    const chunk = (delta: object, finish: string | null = null) => ({
      ...double.chunks([], null)[0],
      choices: [{ index: 0, delta, finish_reason: finish }],
    })
    const call = (fields: object) => ({ tool_calls: [{ index: 0, ...fields }] })
    const strict = { type: 'function' as const, function: { name: 'f', strict: true, parameters: {} } }

    for (const [name, args, finish] of [
      ['whose tool call is cut off', '{"a": "b', 'length'],
      ['whose answer was filtered', '{"a": 1}', 'content_filter'],
    ] as const)
      it(`is the same as one that is not: ${name}`, async () => {
        const pieces = [
          chunk({ role: 'assistant', content: null }),
          chunk(call({ id: 'call_1', type: 'function', function: { name: 'f', arguments: args.slice(0, 3) } })),
          chunk(call({ function: { arguments: args.slice(3) } })),
          chunk({}, finish),
        ]
        server.on('/chat/completions', double.sse(pieces))
        const { value } = await upstream().chat({ ...ask, tools: [strict] }, listening)
        const tool = { id: 'call_1', type: 'function', function: { name: 'f', arguments: args } }
        const message = { role: 'assistant', content: null, tool_calls: [tool] }
        assert.deepEqual(value.choices, [{ index: 0, message, finish_reason: finish }])
      })

    it('hears text that comes in parts, and thoughts as a step', async () => {
      const part = (type: string, said: unknown) => ({ content: [{ type, [type]: said }] })
      server.on(
        '/chat/completions',
        double.sse([
          chunk({ role: 'assistant', content: '', reasoning_content: null }),
          chunk(part('thinking', [{ type: 'text', text: 'Hm.' }])),
          chunk(part('text', 'Hel')),
          chunk({ content: 'lo.' }),
          chunk({}, 'stop'),
        ]),
      )
      const heard: string[] = []
      const onText = (delta: string) => void heard.push(delta)
      await upstream().chat(ask, { ...quiet, onText, onStep: (step) => void heard.push(`(${step})`) })
      assert.deepEqual(heard, ['(thinking)', 'Hel', 'lo.'])
    })

    it('keeps what a provider adds, and names its role where none is sent', async () => {
      const pieces = [
        chunk({ reasoning_content: 'Hm, ' }),
        chunk({ reasoning_content: 'yes.' }),
        chunk({ content: 'Yes.' }),
      ]
      server.on('/chat/completions', double.sse([...pieces, chunk({}, 'stop')]))
      const { value } = await upstream().chat(ask, listening)
      const message = { reasoning_content: 'Hm, yes.', content: 'Yes.', role: 'assistant' }
      assert.deepEqual(value.choices[0]?.message, message)
    })
  })

  for (const failed of double.failedChoices)
    it(`fails with a choice that its provider gave up: ${JSON.stringify(failed)}`, async () => {
      const { message, status } =
        'error' in failed
          ? { message: /reported an error: The worker died\.$/, status: 502 }
          : { message: new RegExp(`its answer ended with ${failed.finish_reason}$`), status: 502 }
      const whole = double.json(200, double.failedCompletion('Hel', failed))
      const stream = double.sse(double.failedChunks(['Hel'], failed), 'done')
      for (const context of [quiet, { ...quiet, onText: () => {} }])
        for (const reply of [whole, stream]) {
          server.on('/chat/completions', reply)
          await assert.rejects(upstream().chat(ask, context), { code: 'upstream_error', message, status })
          await calls.flush()
          const [record] = await history()
          assert.deepEqual([record?.status, record?.http_status], ['error', 200])
          if (reply === whole) assert.equal(record?.usage?.total_tokens, 15)
          await store.db.deleteFrom('calls').execute()
        }
    })

  it('bounds an answer by the name that the model knows, once it is known without asking twice', async () => {
    for (const context of [quiet, { ...quiet, onText: () => {} }]) {
      server.received.length = 0
      server.on('/chat/completions', double.renamesLimit)
      const openai = upstream()
      for (let n = 0; n < 2; n++) await openai.chat({ ...ask, max_tokens: 50 }, context)
      await openai.chat(ask, context)
      const bounds = server.received.map(({ body }) => body as Record<string, unknown>)
      assert.deepEqual(
        bounds.map(({ max_tokens, max_completion_tokens }) => [max_tokens, max_completion_tokens]),
        [
          [50, undefined],
          [undefined, 50],
          [undefined, 50],
          [undefined, undefined],
        ],
      )
    }
    server.on('/chat/completions', double.fails(400, {}, 'max_tokens'))
    await assert.rejects(upstream().chat({ ...ask, max_tokens: 50 }, quiet), { message: /double says 400/ })
    assert.equal(server.received.length, 5, 'a bound that is refused for what it is is not sent again')
  })

  it('streams a chat to a caller that listens', async () => {
    server.on('/chat/completions', double.sse(double.chunks(['Hel', 'lo.'])))
    const heard: string[] = []
    const result = await upstream().chat(ask, { ...quiet, onText: (delta) => heard.push(delta) })
    assert.deepEqual(heard, ['Hel', 'lo.'])
    assert.equal(result.value.choices[0]?.message.content, 'Hello.')
    assert.equal(result.usage?.total_tokens, 15)
    assert.notEqual((await history())[0]?.first_token_ms, null)
  })

  it('streams a chat without its usage where that is refused, and remembers it', async () => {
    const listening = { ...quiet, onText: (delta: string) => void heard.push(delta) }
    const heard: string[] = []
    server.on('/responses', double.fails(404))
    server.on('/chat/completions', double.tellsNoUsage(double.sse(double.chunks(['Hel', 'lo.'], null))))
    const shy = upstream({ aliases: { 'llm-3-fast': 'llm-fallback' } })
    for (const chats of [2, 1]) {
      const { value, usage } = await shy.chat(ask, listening)
      assert.equal(value.choices[0]?.message.content, 'Hello.')
      assert.equal(usage?.estimated, true)
      assert.equal(server.received.splice(0).length, chats)
    }
    assert.equal((await shy.respond({ input: 'Find it.' }, listening)).value.output_text, 'Hello.')
    assert.deepEqual(heard, Array(3).fill(['Hel', 'lo.']).flat(), 'each of them came in pieces')
    assert.deepEqual(
      (await history()).map(({ path, status }) => [path, status]),
      [
        ['/v1/chat/completions', 'ok'],
        ['/v1/responses', 'error'],
        ['/v1/chat/completions', 'ok'],
        ['/v1/chat/completions', 'ok'],
      ],
    )
  })

  it('takes the whole reply of an upstream that does not stream', async () => {
    const listening = { ...quiet, onText: () => {} }
    server.on('/chat/completions', double.json(200, double.completion('Hello.')))
    const chat = await upstream().chat(ask, listening)
    assert.equal(chat.value.choices[0]?.message.content, 'Hello.')
    assert.notEqual(chat.usage, null)
    server.on('/responses', double.json(200, double.response('Found.')))
    const research = await upstream().respond({ input: 'Find it.' }, listening)
    assert.deepEqual([research.route, research.value.output_text], ['responses', 'Found.'])
    server.on('/chat/completions', double.malformed)
    await assert.rejects(upstream().chat(ask, listening), { code: 'upstream_bad_reply' })
  })

  for (const [how, reported] of Object.entries({
    'did not report': null,
    'reports as more than can be': {
      prompt_tokens: Number.MAX_SAFE_INTEGER,
      completion_tokens: Number.MAX_SAFE_INTEGER,
    },
    'reports as less than none': { prompt_tokens: -1, completion_tokens: 1 },
  }))
    it(`counts and marks the usage that the upstream ${how}`, async () => {
      server.on('/chat/completions', double.json(200, double.completion('Hello.', reported)))
      const { usage } = await upstream().chat(ask, quiet)
      assert.equal(usage?.estimated, true)
      assert.equal(usage?.total_tokens, (usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0))
      assert.deepEqual((await history())[0]?.usage, usage)
    })

  it('counts what a chat without a message reports as used', async () => {
    server.on('/chat/completions', double.json(200, { ...double.completion(''), choices: [] }))
    await assert.rejects(upstream().chat(ask, quiet), { code: 'upstream_bad_reply' })
    assert.equal((await history())[0]?.usage?.total_tokens, 15)
  })

  it('accepts an answer in parts, and a model that is not a string', async () => {
    const answer = double.completion('')
    const parts = [
      { type: 'text', text: 'Hel' },
      { type: 'text', text: 'lo.' },
    ]
    const choices = [{ index: 0, message: { role: 'assistant', content: parts }, finish_reason: 'stop' }]
    server.on('/chat/completions', double.json(200, { ...answer, model: 5, choices }))
    const { value, model } = await upstream().chat(ask, quiet)
    assert.deepEqual([value.choices[0]?.message.content, model], ['Hello.', 'double-chat'])
  })

  for (const status of [408, 409, 429, 500, 503])
    it(`retries after ${status}`, async () => {
      const once = double.fails(status, { 'retry-after-ms': '5' })
      server.on('/chat/completions', once, once, double.json(200, double.completion('Hello.')))
      await upstream().chat(ask, quiet)
      assert.equal(server.received.length, 3)
      assert.deepEqual(
        (await history()).map((call) => call.status),
        ['ok'],
        'one call, however many tries',
      )
    })

  it('waits as long as Retry-After says', async () => {
    server.on(
      '/chat/completions',
      double.fails(429, { 'retry-after': '1' }),
      double.json(200, double.completion('Hi.')),
    )
    const began = Date.now()
    await upstream().chat(ask, quiet)
    assert.ok(Date.now() - began >= 990, 'it waited the second')
  })

  it('does not wait on for a caller that cancels', async () => {
    server.on('/chat/completions', double.fails(429, { 'retry-after': '30' }))
    const client = new AbortController()
    const call = upstream().chat(ask, { ...quiet, signal: client.signal })
    await until(() => server.received.length > 0)
    const cancelled = assert.rejects(call, { code: 'cancelled' })
    client.abort()
    await cancelled
    assert.equal((await history())[0]?.status, 'aborted')
  })

  it('follows the x-should-retry header', async () => {
    server.on('/chat/completions', double.fails(503, { 'x-should-retry': 'false' }))
    await assert.rejects(upstream().chat(ask, quiet), { code: 'upstream_error', status: 503 })
    assert.equal(server.received.length, 1)
    const again = double.fails(400, { 'x-should-retry': 'true', 'retry-after-ms': '5' })
    server.on('/chat/completions', again, double.json(200, double.completion('Hello.')))
    assert.equal((await upstream().chat(ask, quiet)).value.choices[0]?.message.content, 'Hello.')
  })

  it('retries when the connection is lost before the reply', async () => {
    server.on('/chat/completions', double.drops, double.json(200, double.completion('Hello.')))
    assert.equal((await upstream().chat(ask, quiet)).value.choices[0]?.message.content, 'Hello.')
  })

  it('takes a refusal of any status that there is', async () => {
    server.on('/chat/completions', double.json(999, { error: { message: 'Who are you?' } }))
    await assert.rejects(upstream({ max_retries: 0 }).chat(ask, quiet), { status: 999, message: /Who are you\?/ })
  })

  it('reads no more than 64 MiB of a stream, however little of it was sent', async () => {
    const comments = gzipSync(Buffer.alloc(65 * 1024 * 1024, `: ${' '.repeat(1024 * 1024 - 4)}\n\n`))
    server.on('/chat/completions', (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' }).end(comments)
    })
    await assert.rejects(upstream().chat(ask, { ...quiet, onText: () => {} }), {
      code: 'upstream_bad_reply',
      message: /larger than 67108864 bytes/,
    })
  })

  it('takes an answer whose provider only says that the stream is over', async () => {
    server.on('/chat/completions', double.sse(double.chunks(['Hello.']).slice(0, 2), 'done'))
    const { value } = await upstream().chat(ask, { ...quiet, onText: () => {} })
    assert.deepEqual([value.choices[0]?.message.content, value.choices[0]?.finish_reason], ['Hello.', 'stop'])
  })

  it('tells the caller at once when the upstream asks for a longer wait than is sensible', async () => {
    server.on('/chat/completions', double.fails(429, { 'retry-after': '3600' }))
    await assert.rejects(upstream().chat(ask, quiet), { code: 'upstream_error', status: 429, retryAfterSeconds: 3600 })
    assert.equal(server.received.length, 1)
  })

  it('does not retry what the upstream refuses', async () => {
    server.on('/chat/completions', double.fails(400))
    await assert.rejects(upstream().chat(ask, quiet), {
      code: 'upstream_error',
      status: 400,
      message: /double says 400/,
    })
    assert.equal(server.received.length, 1)
    const [record] = await history()
    assert.deepEqual([record?.status, record?.http_status], ['error', 400])
  })

  it('says why an upstream refuses that has no field for it', async () => {
    for (const body of [{ detail: 'No such model.' }, { object: 'error', message: 'No such model.' }]) {
      server.on('/chat/completions', double.json(400, body))
      await assert.rejects(upstream().chat(ask, quiet), { code: 'upstream_error', message: /No such model\./ })
    }
  })

  for (const [what, said] of [
    ['seconds', () => '60'],
    ['a date', () => new Date(Date.now() + 60_000).toUTCString()],
  ] as const)
    it(`says when the upstream may be retried, in ${what}`, async () => {
      server.on('/chat/completions', double.fails(429, { 'retry-after': said() }))
      await assert.rejects(upstream().chat(ask, quiet), { message: /retry after (5\d|60) s/ })
    })

  it('says of a reply in another form that it was reached, and quotes nothing of it', async () => {
    const page: double.Behaviour = (response) =>
      void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>xyzzy-plugh</html>')
    const odd = { ...double.response(''), output: [{ type: 'message', role: 'assistant' }] }
    for (const behaviour of [page, double.json(200, odd), double.json(302, {}, { location: '/login' })]) {
      server.on('/responses', behaviour)
      server.on('/chat/completions', double.fails(500))
      await assert.rejects(upstream({ max_retries: 0 }).respond({ input: 'Find it.' }, quiet), {
        code: 'upstream_bad_reply',
      })
    }
    assert.ok(!JSON.stringify(await history()).includes('xyzzy'))
  })

  it('refuses what is nested too deeply to be sent', async () => {
    const deep = JSON.parse(`${'{"0":'.repeat(20_000)}1${'}'.repeat(20_000)}`)
    const messages = [{ role: 'user' as const, content: 'Hi.', deep }]
    await assert.rejects(upstream().chat({ messages }, quiet), { code: 'validation_failed' })
  })

  it('cuts what a long error says between two characters', async () => {
    for (const before of ['', 'x']) {
      const message = before + '👋'.repeat(300)
      server.on('/chat/completions', double.json(400, { error: { message } }))
      await assert.rejects(upstream().chat(ask, quiet), (error: Error) => error.message.isWellFormed())
    }
  })

  it('hides the values of configured headers as it hides the key', async () => {
    const headers = { 'x-extra': 'HDRSECRET-zyx', authorization: 'Bearer tok-123456789', 'x-on': '1' }
    const refusal = double.json(400, { error: { message: 'bad HDRSECRET-zyx and tok-123456789, 1 of them' } })
    server.on('/chat/completions', refusal)
    server.on('/models', refusal)
    const from = upstream({ headers })
    await assert.rejects(from.chat(ask, quiet), { message: /bad \*{3} and \*{3}, 1 of them/ })
    const { body } = await from.directCall({ method: 'GET', path: '/models' }, quiet)
    assert.match(JSON.stringify(body), /bad \*{3} and \*{3}, 1 of them/)
  })

  it('gives up on an upstream that stays silent', async () => {
    server.on('/chat/completions', double.hangs)
    await assert.rejects(upstream({ timeout_ms: 300 }).chat(ask, quiet), { code: 'upstream_timeout', status: 504 })
    await server.received[0]?.aborted
  })

  it('gives up on a stream that falls silent, and counts what was said', async () => {
    server.on('/chat/completions', double.sse(double.chunks(['Hel']).slice(0, 2), 'hang'))
    const listening = { ...quiet, onText: () => {} }
    await assert.rejects(upstream({ timeout_ms: 1000 }).chat(ask, listening), { code: 'upstream_timeout' })
    const [record] = await history()
    assert.equal(record?.usage?.estimated, true)
    assert.equal(record?.usage?.completion_tokens, 3)
  })

  it('waits beyond what fetch does by itself where the silence may last longer', async (t) => {
    const usual = getGlobalDispatcher()
    t.after(() => setGlobalDispatcher(usual))
    setGlobalDispatcher(new Agent({ headersTimeout: 100, bodyTimeout: 100 }))
    let answer = () => {}
    const held = new Promise<void>((resolve) => {
      answer = resolve
    })
    server.on('/models', async (response, request) => {
      await held
      await double.json(200, { data: [] })(response, request)
    })
    const patient = upstream({ timeout_ms: 600_000 }).directCall({ method: 'GET', path: '/models' }, quiet)
    await until(() => server.received.length > 0)
    await assert.rejects(fetch(`${server.url}/models`), (error: Error) => /Timeout/.test(String(error.cause)))
    answer()
    assert.equal((await patient).status, 200)
  })

  it('reports a connection that cannot be made', async () => {
    const address = `http://127.0.0.1:${await freePort()}/v1`
    await assert.rejects(upstream({ provider: address, max_retries: 0 }).chat(ask, quiet), (error: Error) => {
      assert.match(error.message, /could not be reached \(.*ECONNREFUSED/)
      assert.ok(!error.message.includes(new URL(address).host), 'customers read it')
      return true
    })
  })

  for (const [name, broken] of Object.entries({
    'malformed JSON': double.malformed,
    'JSON that is no completion': double.json(200, { hello: 'world' }),
    'an empty body': double.json(200, {}),
  }))
    it(`reports ${name}`, async () => {
      server.on('/chat/completions', broken)
      await assert.rejects(upstream().chat(ask, quiet), { code: 'upstream_bad_reply', status: 502 })
      const [record] = await history()
      assert.deepEqual([record?.status, record?.http_status], ['error', 200])
    })

  it('reports a stream that breaks, and one that ends too early', async () => {
    const said = { break: /its stream was cut off/, none: /its stream ended/ }
    for (const end of ['break', 'none'] as const) {
      server.on('/chat/completions', double.sse(double.chunks(['Hel']).slice(0, 2), end))
      await assert.rejects(upstream().chat(ask, { ...quiet, onText: () => {} }), {
        code: 'upstream_bad_reply',
        message: said[end],
      })
    }
  })

  it('carries a cancellation to the upstream, and records it as aborted', async () => {
    server.on('/chat/completions', double.hangs)
    const client = new AbortController()
    const call = upstream().chat(ask, { ...quiet, signal: client.signal })
    await until(() => server.received.length > 0)
    client.abort()
    await assert.rejects(call, { code: 'cancelled' })
    await server.received[0]?.aborted
    assert.equal((await history())[0]?.status, 'aborted')
  })

  for (const [who, reason, code, status] of [
    ['its client cancels', undefined, 'cancelled', 'aborted'],
    ['the service stops', serviceStopping(), 'service_stopping', 'error'],
  ] as const)
    it(`ends a stream when ${who}, and counts what was said`, async () => {
      const hangs = {
        '/chat/completions': double.sse(double.chunks(['Hel']).slice(0, 2), 'hang'),
        '/responses': double.sse(double.responseEvents(['Hel']).slice(0, 4), 'hang'),
      }
      for (const [path, behaviour] of Object.entries(hangs)) {
        server.received.length = 0
        server.on(path, behaviour)
        const client = new AbortController()
        const listening = { ...quiet, signal: client.signal, onText: () => client.abort(reason) }
        const from = upstream()
        const call = path === '/responses' ? from.respond({ input: 'Hi.' }, listening) : from.chat(ask, listening)
        await assert.rejects(call, { code })
        await server.received[0]?.aborted
        const [record] = await history()
        assert.deepEqual([record?.status, record?.usage?.completion_tokens, server.received.length], [status, 3, 1])
      }
    })

  it('never shows the key in an error or a record', async () => {
    server.on('/chat/completions', double.json(400, { error: { message: `Incorrect API key: ${KEY}` } }))
    await assert.rejects(upstream().chat(ask, quiet), (error: Error) => !error.message.includes(KEY))
    assert.ok(!JSON.stringify(await history()).includes(KEY))
  })

  describe('the record of a call that the upstream refuses', () => {
    const error = { message: 'may not say xyzzy-plugh', code: 'content_filter' }
    const listening = { ...quiet, onText: () => {} }
    const failed = { type: 'response.failed', response: { ...double.response(''), status: 'failed', error } }
    const chat = (context: CallContext) => (from: Upstream) => from.chat(ask, context)
    const respond = (context: CallContext) => (from: Upstream) => from.respond({ input: 'Find it.' }, context)
    const ways: Record<string, [double.Behaviour, (from: Upstream) => Promise<unknown>]> = {
      'with a status': [double.json(400, { error }), chat(quiet)],
      'in a stream': [double.sse([...double.chunks(['Hel']).slice(0, 2), { error }], 'none'), chat(listening)],
      'in place of a completion': [double.json(200, { error }), chat(quiet)],
      'in place of a response': [double.json(200, { error }), respond(quiet)],
      'as a failed response': [double.json(200, failed.response), respond(quiet)],
      'as the end of a stream of events': [double.sse([failed], 'none'), respond(listening)],
    }
    for (const [name, [behaviour, call]] of Object.entries(ways))
      for (const storeContent of [false, true])
        it(`${storeContent ? 'quotes' : 'leaves out'} what it said ${name}`, async () => {
          server.on('/chat/completions', behaviour)
          server.on('/responses', behaviour)
          const caller = /xyzzy-plugh/
          await assert.rejects(call(upstream({}, storeContent)), { message: caller })
          const first = (await history()).at(-1)
          assert.equal(first?.status, 'error')
          assert.equal(caller.test(first?.error ?? ''), storeContent)
          if (!storeContent)
            assert.match(first?.error ?? '', /^The upstream \S+ (answered 400|reported an error) \(content_filter\)\.$/)
        })
  })

  it('has the name of a known provider at its host, and shows no other host to callers', () => {
    const labelOf = (provider: string) => upstream({ provider }).provider.label
    assert.equal(labelOf('https://user:password@api.deepseek.com/beta'), 'deepseek')
    assert.equal(labelOf('deepseek'), 'deepseek')
    assert.equal(labelOf('https://models.example.com/v1'), 'default')
  })

  it('names both ways out when there is no key', async () => {
    const without = upstream({ provider: 'xai', api_key: null })
    await assert.rejects(without.chat(ask, quiet), {
      code: 'upstream_not_configured',
      message: /XAI_API_KEY.*--upstream sandbox/,
    })
  })

  describe('responses', () => {
    it('asks the primary model on the responses endpoint', async () => {
      server.on('/responses', double.json(200, double.response('Found.')))
      const result = await upstream().respond({ input: 'Find it.', tools: [{ type: 'web_search' }] as never }, quiet)
      assert.equal(result.route, 'responses')
      assert.equal(result.value.output_text, 'Found.')
      assert.equal(bodyOf(0).model, 'llm-primary')
      assert.deepEqual(result.usage, { prompt_tokens: 20, completion_tokens: 7, total_tokens: 27 })
    })

    it('reads a stream that was not asked for: some providers always stream', async () => {
      server.on('/chat/completions', double.sse(double.chunks(['Hel', 'lo.'])))
      const chat = await upstream().chat(ask, quiet)
      assert.equal(chat.value.choices[0]?.message.content, 'Hello.')
      assert.equal(chat.usage?.total_tokens, 15)
      server.on('/responses', double.sse(double.responseEvents(['Fo', 'und.']), 'none'))
      const { route, value } = await upstream().respond({ input: 'Find it.' }, quiet)
      assert.deepEqual([route, value.output_text], ['responses', 'Found.'])
      server.on('/chat/completions', double.sse([{ error: { message: 'out of credit' } }], 'none'))
      await assert.rejects(upstream().chat(ask, quiet), { code: 'upstream_error', message: /out of credit/ })
    })

    for (const [what, events] of Object.entries(double.endedWithoutOutput('Found.')))
      it(`keeps an answer that was streamed, and ends ${what}`, async () => {
        server.on('/responses', double.sse(events, 'none'))
        const { route, value } = await upstream().respond({ input: 'Find it.' }, quiet)
        assert.deepEqual([route, value.output_text], ['responses', 'Found.'])
        server.on('/responses', double.fails(400, {}, 'stream'), double.sse(events, 'none'))
        assert.equal((await upstream().respond({ input: 'Find it.' }, quiet)).value.output_text, 'Found.')
      })

    it('streams although its caller does not listen, or nothing would be heard of long research', async () => {
      server.on('/responses', double.sse(double.responseEvents(['Found.']), 'none'))
      await upstream().respond({ input: 'Find it.' }, quiet)
      assert.equal(bodyOf(0).stream, true)
      assert.equal((await history())[0]?.stream, true)
    })

    for (const [how, refusal] of Object.entries({
      'by its field': double.fails(400, {}, 'stream'),
      'in words': double.json(400, { error: { message: 'Streaming is not supported.', param: null } }),
      'as one that is not allowed': double.json(405, { message: 'This model cannot be streamed.' }),
      'as FastAPI does': double.json(422, { detail: [{ loc: ['body', 'stream'], msg: 'Extra inputs' }] }),
      'as what it has not': double.json(501, { error: 'streaming not implemented' }),
    }))
      it(`takes the answer in one piece from an upstream that refuses to stream ${how}`, async () => {
        server.on('/responses', refusal, double.json(200, double.response('Found.')))
        const { route, value } = await upstream({ max_retries: 0 }).respond({ input: 'Find it.' }, quiet)
        assert.deepEqual([route, value.output_text], ['responses', 'Found.'])
        assert.equal(bodyOf(1).stream, undefined)
      })

    it('takes no other refusal for one to stream', async () => {
      const other = double.json(404, { error: { message: 'There is no stream of that name.' } })
      for (const refusal of [other, double.fails(400), double.fails(422)]) {
        server.received.length = 0
        server.on('/responses', refusal)
        server.on('/chat/completions', double.json(200, double.completion('From chat.')))
        await upstream().respond({ input: 'Find it.' }, quiet)
        assert.equal(server.received.length, 2)
      }
    })

    it('takes the whole reply of an upstream that has a name of its own for JSON', async () => {
      const named = { 'content-type': 'application/vnd.api+json' }
      server.on('/responses', double.json(200, double.response('Found.'), named))
      const { route, value } = await upstream().respond({ input: 'Find it.' }, quiet)
      assert.deepEqual([route, value.output_text], ['responses', 'Found.'])
    })

    it('tells a caller that listens what the model does before it speaks', async () => {
      const events = double.responseEvents(['Found.'])
      const doing = [
        { type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', id: 'rs_1' } },
        { type: 'response.reasoning_summary_text.delta', item_id: 'rs_1', delta: 'Hm.' },
        { type: 'response.web_search_call.searching', output_index: 1, item_id: 'ws_1' },
      ]
      server.on('/responses', double.sse([...events.slice(0, 2), ...doing, ...events.slice(2)], 'none'))
      const told: string[] = []
      const tell = (what: string) => void told.push(what)
      await upstream().respond({ input: 'Find it.' }, { ...quiet, onText: tell, onStep: tell })
      assert.deepEqual(told.slice(0, 7), [
        ...['working', 'working', 'thinking', 'thinking', 'searching the web'],
        ...['working', 'Found.'],
      ])
      server.on('/chat/completions', double.sse([thought, ...double.chunks(['Yes.'])]))
      told.length = 0
      await upstream().chat(ask, { ...quiet, onText: tell, onStep: tell })
      assert.deepEqual(told, ['thinking', 'Yes.'])
    })

    it('streams to a caller that listens', async () => {
      server.on('/responses', double.sse(double.responseEvents(['Fo', 'und.']), 'none'))
      const heard: string[] = []
      const result = await upstream().respond({ input: 'Find it.' }, { ...quiet, onText: (delta) => heard.push(delta) })
      assert.deepEqual(heard, ['Fo', 'und.'])
      assert.equal(result.value.output_text, 'Found.')
    })

    const request = {
      instructions: 'Be short.',
      input: 'Find it.',
      max_output_tokens: 50,
      tools: [{ type: 'web_search' }, { type: 'function', name: 'look', parameters: { type: 'object' }, strict: true }],
    } as never
    const failures: Record<string, double.Behaviour> = {
      'a refusal': double.fails(400),
      'an unknown endpoint': double.fails(404),
      'an error of the server': double.fails(500, { 'retry-after-ms': '1' }),
      'a rate limit': double.fails(429, { 'retry-after-ms': '1' }),
      'a dropped connection': double.drops,
      silence: double.hangs,
      'malformed JSON': double.malformed,
      'a failed response': double.json(200, {
        ...double.response(''),
        status: 'failed',
        error: { message: 'overloaded' },
      }),
      'a response that was cancelled': double.json(200, { ...double.response(''), status: 'cancelled' }),
      'a response that says nothing': double.json(200, double.response('')),
      'a response that only calls a function': double.sse(
        [
          {
            type: 'response.completed',
            response: {
              ...double.response(''),
              output: [{ type: 'function_call', name: 'web_search', arguments: '{}' }],
            },
          },
        ],
        'none',
      ),
      'a response that is not generated yet': double.json(200, {
        ...double.response(''),
        status: 'queued',
        output: [],
      }),
    }
    for (const [name, failure] of Object.entries(failures))
      it(`falls back to chat completions after ${name}`, async () => {
        server.on('/responses', failure)
        server.on('/chat/completions', double.json(200, double.completion('From chat.')))
        const result = await upstream({ max_retries: 1, timeout_ms: name === 'silence' ? 500 : 30_000 }).respond(
          request,
          quiet,
        )
        assert.equal(result.route, 'chat_fallback')
        assert.equal(result.value.output_text, 'From chat.')
        assert.equal(result.value.status, 'completed')
        const sent = server.received.at(-1)?.body as Record<string, unknown>
        assert.equal(sent.model, 'llm-fallback')
        assert.deepEqual(sent.messages, [
          { role: 'system', content: 'Be short.' },
          { role: 'user', content: 'Find it.' },
        ])
        assert.equal(sent.max_tokens, 50)
        assert.deepEqual(sent.tools, [
          { type: 'function', function: { name: 'look', parameters: { type: 'object' }, strict: true } },
        ])
        const [second, first] = await history()
        assert.equal(first?.status, 'error')
        assert.deepEqual([second?.status, second?.fallback_from], ['ok', first?.call_id])
      })

    const thoughts = { ...double.response(''), output: [{ type: 'reasoning', id: 'rs_1', summary: [] }] }
    const usage = { input_tokens: 10_000, output_tokens: 20_000, total_tokens: 30_000 }
    for (const [what, ending] of [
      ['only thinks', { type: 'response.completed', response: { ...thoughts, usage } }],
      ['fails', { type: 'response.failed', response: { ...thoughts, status: 'failed', error: {}, usage } }],
    ] as const)
      it(`counts what a response that ${what} reports as used`, async () => {
        server.on('/responses', double.sse([ending], 'none'))
        server.on('/chat/completions', double.json(200, double.completion('From chat.')))
        assert.equal((await upstream().respond(request, quiet)).value.output_text, 'From chat.')
        const [, first] = await history()
        const tokens = { prompt_tokens: 10_000, completion_tokens: 20_000, total_tokens: 30_000 }
        assert.deepEqual([first?.status, first?.usage, first?.upstream_cost_usd], ['error', tokens, 0.09])
      })

    it('falls back when a stream breaks before its first output, not after', async () => {
      const events = double.responseEvents(['Fo', 'und.'])
      const listening = { ...quiet, onText: () => {} }
      server.on('/chat/completions', double.sse(double.chunks(['From chat.'])))
      server.on('/responses', double.sse(events.slice(0, 2), 'break'))
      assert.equal((await upstream().respond(request, listening)).route, 'chat_fallback')
      server.on('/responses', double.sse(events.slice(0, 4), 'break'))
      await assert.rejects(upstream().respond(request, listening), { status: 502 })
    })

    it('falls back after whatever is no text', async () => {
      const call = {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'c',
        name: 'look',
        arguments: '{}',
        status: 'completed',
      }
      const made = double.responseEvents([])[0]
      const called = { type: 'response.output_item.done', output_index: 0, item: call }
      const failed = { type: 'response.failed', response: { ...double.response(''), status: 'failed' } }
      server.on('/chat/completions', double.sse(double.chunks(['From chat.'])))
      for (const events of [
        [double.chunks([])[0], { error: { message: 'overloaded' } }],
        [made, called, failed],
        [made, called, { type: 'response.completed', response: { ...double.response(''), output: [call] } }],
      ]) {
        server.on('/responses', double.sse(events, 'none'))
        const { route, value } = await upstream().respond({ input: 'Find it.' }, quiet)
        assert.deepEqual([route, value.output_text], ['chat_fallback', 'From chat.'])
      }
    })

    it('takes no chat that says nothing for an answer', async () => {
      server.on('/responses', double.fails(403))
      for (const nothing of [double.json(200, double.completion('')), double.sse(double.chunks([]))]) {
        server.on('/chat/completions', nothing)
        await assert.rejects(upstream().respond(request, quiet), { message: /double says 403/ })
      }
    })

    it('does not send again the field that the upstream refused', async () => {
      server.on('/responses', double.fails(400, {}, 'temperature'))
      server.on('/chat/completions', double.json(200, double.completion('From chat.')))
      await upstream().respond({ input: 'Find it.', temperature: 0.5, top_p: 0.9 }, quiet)
      assert.deepEqual([bodyOf(1).temperature, bodyOf(1).top_p], [undefined, 0.9])
    })

    it('gives the first error when both fail', async () => {
      server.on('/responses', double.fails(403))
      server.on('/chat/completions', double.fails(400))
      await assert.rejects(upstream().respond(request, quiet), { message: /double says 403/ })
      assert.deepEqual(
        (await history()).map((call) => call.http_status),
        [400, 403],
      )
    })

    it('does not fall back for a client that has cancelled', async () => {
      server.on('/responses', double.hangs)
      const client = new AbortController()
      const call = upstream().respond(request, { ...quiet, signal: client.signal })
      await until(() => server.received.length > 0)
      client.abort()
      await assert.rejects(call, { code: 'cancelled' })
      assert.equal(server.received.length, 1)
    })
  })

  describe('the passthrough', () => {
    const get = (path: string) => upstream().directCall({ method: 'GET', path }, quiet)

    it('reaches a listed path and gives back status, safe headers and body', async () => {
      server.on(
        '/models',
        double.json(200, { data: [] }, { 'x-ratelimit-limit': '5', 'set-cookie': 'a=b', 'x-org': 'o' }),
      )
      const reply = await get('/models')
      assert.equal(reply.status, 200)
      assert.deepEqual(reply.body, { data: [] })
      assert.deepEqual(Object.keys(reply.headers).sort(), ['content-type', 'x-ratelimit-limit'])
    })

    it('takes a path with the prefix of the base URL, and one below a listed path', async () => {
      server.on('/models/a', double.json(200, { id: 'a' }))
      assert.deepEqual((await get('/v1/models/a')).body, { id: 'a' })
    })

    for (const path of [
      'http://elsewhere',
      '//elsewhere',
      '/../x',
      '/models/../x',
      '/%2e%2e/x',
      '/models/%2E%2e/x',
      '/models%2f..%2fx',
      '/models/..%2fx',
      '/models\\..\\x',
      '/models//x',
      '/./models',
      '/modelsx',
      '/files',
      '/models?x=1',
      '/models#x',
      '/\t/elsewhere',
      '/models/\u2025/x',
      '@elsewhere',
      '/v1/../x',
      '/models/%252e%252e/x',
    ])
      it(`refuses ${JSON.stringify(path)} without a request`, async () => {
        await assert.rejects(get(path), { code: 'forbidden_path', param: 'path' })
        assert.equal(server.received.length, 0)
      })

    it('refuses a body where the method takes none, and does not announce one', async () => {
      server.on('/models', double.json(200, { data: [] }))
      for (const method of ['GET', 'DELETE'] as const) {
        const ask = (body: unknown) => upstream().directCall({ method, path: '/models', body }, quiet)
        await assert.rejects(ask({ limit: 1 }), { code: 'validation_failed', param: 'body', message: /omit it/ })
        assert.equal(server.received.length, 0)
        for (const none of [undefined, null]) assert.equal((await ask(none)).status, 200)
        const announced = server.received.splice(0).map(({ text, headers }) => [text, headers['content-type']])
        assert.deepEqual(announced, Array(2).fill(['', undefined]))
      }
    })

    it('does not follow a redirect', async () => {
      const other = await double.startUpstream()
      other.on('/models', double.json(200, { data: 'elsewhere' }))
      server.on('/models', double.json(302, {}, { location: `${other.url}/models` }))
      assert.equal((await get('/models')).status, 302)
      assert.equal(other.received.length, 0)
      await other.close()
    })

    it('shows no part of the key, in a header or where a long refusal is cut off', async () => {
      const before = '{"data":"'
      const text = 'x'.repeat(256 * 1024 - before.length - 10) + KEY.repeat(2)
      server.on('/models', double.json(400, { data: text }, { 'x-request-id': `of-${KEY}` }))
      const reply = await get('/models')
      assert.equal(reply.headers['x-request-id'], 'of-***')
      assert.equal(reply.truncated, true)
      assert.match(String(reply.body), /xxx$/)
    })

    it('leaves the words of an answer alone, whatever the key', async () => {
      const body = { data: [{ id: 'llama3:latest' }, { id: 'lm-studio-community/phi' }] }
      server.on('/models', double.json(200, body))
      for (const api_key of ['test', 'lm-studio']) {
        const reply = await upstream({ api_key }).directCall({ method: 'GET', path: '/models' }, quiet)
        assert.deepEqual(reply.body, body)
      }
    })

    it('masks in a refusal only keys of 8 characters and more', async () => {
      server.on('/models', double.json(400, { error: 'llama3:latest is not for lm-studio' }))
      for (const [api_key, error] of [
        ['test', 'llama3:latest is not for lm-studio'],
        ['lm-studio', 'llama3:latest is not for ***'],
      ] as const) {
        const reply = await upstream({ api_key }).directCall({ method: 'GET', path: '/models' }, quiet)
        assert.deepEqual(reply.body, { error })
      }
    })

    it('cuts off a reply that is too long', async () => {
      server.on('/models', double.json(200, { data: 'x'.repeat(1_000_000) }))
      const reply = await get('/models')
      assert.equal(reply.truncated, true)
      assert.equal(String(reply.body).length, 256 * 1024)
    })

    it('cuts off a reply that is larger than what is kept of one, too', async () => {
      const blanks = gzipSync(Buffer.alloc(65 * 1024 * 1024, ' '))
      server.on('/models', (response) => {
        response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }).end(blanks)
      })
      const { truncated, headers } = await get('/models')
      assert.deepEqual([truncated, headers['content-type']], [true, 'text/plain'])
    })

    it('resolves the model alias in a body and counts reported usage', async () => {
      server.on('/embeddings', double.json(200, { data: [], usage: { prompt_tokens: 4, completion_tokens: 0 } }))
      const request = { method: 'POST' as const, path: '/embeddings', body: { model: 'llm-3-fast', input: 'x' } }
      await upstream().directCall(request, quiet)
      assert.equal(bodyOf(0).model, 'double-chat')
      assert.equal((await history())[0]?.usage?.total_tokens, 4)
    })

    const usage = { prompt_tokens: 500, total_tokens: 500 }
    for (const [what, behaviour, tokens] of [
      ['embeddings', double.json(200, { data: [], usage }), 500],
      ['a reply that is cut off', double.json(200, { data: 'x'.repeat(1_000_000), usage }), 500],
      ['a stream of chunks', double.sse(double.chunks(['Hello.'])), 15],
      ['a stream of events', double.sse(double.responseEvents(['Hello.']), 'none'), 27],
    ] as const)
      it(`counts the usage of ${what}`, async () => {
        server.on('/embeddings', behaviour)
        await upstream().directCall({ method: 'POST', path: '/embeddings', body: { model: 'm', input: 'x' } }, quiet)
        assert.equal((await history())[0]?.usage?.total_tokens, tokens)
      })

    const { usage: _, ...response } = double.response('Hello.')
    const completion = double.completion('Hello.', null)
    const chunks = double.chunks(['Hel', 'lo.'], null)
    const events = double
      .responseEvents(['Hello.'])
      .map((event) => ('response' in event ? { ...event, response: { ...event.response, usage: null } } : event))
    const [chats, responses] = ['/chat/completions', '/responses']
    for (const [what, path, stream, behaviour, said, status] of [
      ['a completion', chats, false, double.json(200, completion), JSON.stringify(completion.choices), 'ok'],
      ['a stream of chunks', chats, true, double.sse(chunks), 'Hello.', 'ok'],
      ['one that breaks off', chats, true, double.sse(chunks.slice(0, -1), 'break'), 'Hello.', 'error'],
      ['a Response', responses, false, double.json(200, response), JSON.stringify(response.output), 'ok'],
      ['a stream of events', responses, true, double.sse(events, 'none'), 'Hello.', 'ok'],
      ['one that breaks off', responses, true, double.sse(events.slice(0, -1), 'break'), 'Hello.', 'error'],
    ] as const)
      it(`counts and marks what the model said where ${what} on ${path} reports no usage`, async () => {
        server.on(path, behaviour)
        const body = { model: 'm', stream, ...ask }
        const from = upstream({ allowed_paths: [path] })
        await from.directCall({ method: 'POST', path, body }, quiet).catch(({ code }) => {
          assert.deepEqual([code, status], ['upstream_bad_reply', 'error'])
        })
        const [record] = await history()
        const prompt = JSON.stringify(body).length
        const usage = {
          prompt_tokens: prompt,
          completion_tokens: said.length,
          total_tokens: prompt + said.length,
          estimated: true,
        }
        assert.deepEqual([record?.stream, record?.status, record?.usage], [stream, status, usage])
      })

    it('counts no answer when there is none', async () => {
      const from = upstream({ allowed_paths: [chats] })
      for (const behaviour of [double.fails(400), double.json(200, { object: 'list', data: [completion] })]) {
        server.on(chats, behaviour)
        await from.directCall({ method: 'GET', path: chats }, quiet)
        assert.equal((await history())[0]?.usage, null)
      }
    })
  })
})
