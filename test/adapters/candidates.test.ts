import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { CallRecord } from '../../src/calls/call-record.ts'
import { message, messageStream, named, refuses } from '../doubles/anthropic.ts'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

const ASK = { model: 'any', messages: [{ role: 'user', content: 'Say hello.' }] }
const CHAT = '/chat/completions'

describe('a call with several candidates', () => {
  let one: double.UpstreamDouble
  let two: double.UpstreamDouble
  let three: double.UpstreamDouble
  let settings = 5000
  let running: RunningGateway
  const all = () => [one, two, three]

  before(async () => {
    one = await double.startUpstream()
    two = await double.startUpstream()
    three = await double.startUpstream()
    running = await startGateway(
      one.url,
      {},
      {
        upstream: { timeout_ms: 2000, first_byte_timeout_ms: 1500 },
        upstreams: {
          two: {
            provider: two.url,
            api_keys: ['key-of-two-number-1', 'key-of-two-number-2'],
            key_ids: [null, 'key_second'],
            timeout_ms: 2000,
          },
          claude: { provider: three.url, protocol: 'anthropic', api_keys: ['key-of-claude-1'], timeout_ms: 2000 },
        },
        routes: [
          { model: 'any', to: ['default', 'two/their-model', 'claude/claude-x'] },
          { model: 'two-first', to: ['two', 'default'] },
          { model: 'claude-first', to: ['claude', 'default'] },
          { model: 'rests-or-claude', to: ['two', 'claude'] },
          { model: 'claude-or-rests', to: ['claude', 'two'] },
          {
            model: 'drawn',
            to: [
              { upstream: 'default', weight: 1 },
              { upstream: 'two', weight: 3 },
            ],
            strategy: 'weighted',
          },
        ],
      },
    )
  })
  beforeEach(async () => {
    for (const upstream of all()) {
      upstream.received.length = 0
      upstream.on(CHAT, double.json(200, double.completion('Hello.')))
      upstream.on('/responses', double.json(200, double.response('Hello.')))
      upstream.on('/messages', double.json(200, message('Hello.')))
    }
    // Upstreams whose own settings change have had no failures, and their keys do not rest.
    settings++
    await running.gateway.config.set({
      'upstream.connect_timeout_ms': settings,
      'upstreams.two.connect_timeout_ms': settings,
      'upstreams.claude.connect_timeout_ms': settings,
    })
    await running.gateway.calls.flush()
    for (const table of ['calls', 'call_rollups', 'call_totals'] as const)
      await running.gateway.store.db.deleteFrom(table).execute()
  })
  after(async () => {
    await running.close()
    for (const upstream of all()) await upstream.close()
  })

  const post = (body: unknown, path = CHAT, signal?: AbortSignal, key = running.key) =>
    fetch(`${running.url}/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    })
  /** Oldest first. */
  const records = async (): Promise<CallRecord[]> =>
    (await running.gateway.calls.history({ limit: 50 })).items.reverse()
  const asked = () => all().map(({ received }) => received.length)
  const originOf = (reply: Response) => [
    reply.headers.get('x-gazeway-upstream'),
    reply.headers.get('x-gazeway-attempts'),
  ]

  it('is answered by the first, which the reply names', async () => {
    const reply = await post(ASK)
    assert.equal(reply.status, 200)
    assert.deepEqual(originOf(reply), ['default', '1'])
    assert.deepEqual(asked(), [1, 0, 0])
  })

  const after503 = double.fails(503)
  for (const [what, behaviour] of [
    ['drops the connection', double.drops],
    ['is silent before its first byte', double.hangs],
    ...[401, 403, 404, 408, 409, 425, 429, 500, 502, 503, 529].map(
      (status) => [`answers ${status}`, double.fails(status)] as const,
    ),
  ] as const)
    for (const stream of [false, true])
      it(`is answered by the second where the first ${what}${stream ? ', streamed' : ''}`, async () => {
        one.on(CHAT, behaviour)
        two.on(CHAT, stream ? double.sse(double.chunks(['Hello.'])) : double.json(200, double.completion('Hello.')))
        const reply = await post({ ...ASK, stream })
        assert.equal(reply.status, 200)
        assert.match(await reply.text(), /Hello\./)
        assert.deepEqual(originOf(reply), ['two', '2'])
        assert.deepEqual(asked(), [1, 1, 0])
        assert.deepEqual(
          two.received.map(({ body }) => (body as { model: string }).model),
          ['their-model'],
        )
        const [failed, answered] = await records()
        assert.deepEqual([failed?.status, failed?.fallback_from, failed?.requested_model], ['error', null, 'any'])
        assert.deepEqual(
          [answered?.status, answered?.fallback_from, answered?.upstream, answered?.requested_model, answered?.model],
          ['ok', failed?.call_id, 'two', 'any', 'their-model'],
        )
      })

  for (const status of [400, 402, 413, 415, 422])
    it(`stays the client's fault where the first answers ${status}`, async () => {
      one.on(CHAT, double.fails(status))
      const reply = await post(ASK)
      assert.equal(reply.status, status)
      assert.deepEqual(asked(), [1, 0, 0])
    })

  for (const [what, behaviour] of [
    ['breaks off before its first output', double.sse(double.chunks([], null).slice(0, 1), 'break')],
    ['ends before its first output', double.sse([], 'none')],
    ['reports an error before its first output', double.sse([{ error: { message: 'Overloaded.', code: 503 } }])],
    ['falls silent before its first output', double.sse(double.chunks([], null).slice(0, 1), 'hang')],
  ] as const)
    it(`is answered by the second where the stream of the first ${what}`, async () => {
      one.on(CHAT, behaviour)
      two.on(CHAT, double.sse(double.chunks(['Hello.'])))
      const reply = await post({ ...ASK, stream: true })
      const text = await reply.text()
      assert.deepEqual(originOf(reply), ['two', '2'])
      assert.match(text, /"Hello\."/)
      assert.equal(text.match(/"role":"assistant"/g)?.length, 1, 'nothing of the first stream goes on')
      assert.match(text, /data: \[DONE\]\n\n$/)
    })

  for (const [what, behaviour] of [
    ['breaks off after it', double.sse(double.chunks(['Hel'], null).slice(0, 2), 'break')],
    [
      'reports an error after it',
      double.sse([...double.chunks(['Hel'], null).slice(0, 2), { error: { message: 'x', code: 503 } }]),
    ],
  ] as const)
    it(`is never asked again of another once output has come: the stream ${what}`, async () => {
      one.on(CHAT, behaviour)
      const text = await (await post({ ...ASK, stream: true })).text()
      assert.match(text, /"Hel"[\s\S]*"error"/)
      assert.deepEqual(asked(), [1, 0, 0])
    })

  it('is never asked again of another once a whole reply has begun', async () => {
    one.on(CHAT, (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{"choices"')
      setImmediate(() => response.socket?.destroy())
    })
    assert.equal((await post(ASK)).status, 502)
    one.on(CHAT, double.malformed)
    assert.equal((await post(ASK)).status, 502)
    assert.deepEqual(asked(), [2, 0, 0])
  })

  it('continues with an upstream of the other protocol, and returns its error when all fail', async () => {
    one.on(CHAT, after503)
    two.on(CHAT, double.fails(500))
    const reply = await post(ASK)
    assert.equal(reply.status, 200)
    assert.deepEqual(originOf(reply), ['claude', '3'])
    assert.equal(
      ((await reply.json()) as { choices: { message: { content: string } }[] }).choices[0]?.message.content,
      'Hello.',
    )
    three.on('/messages', refuses(529, 'overloaded_error', 'Overloaded'))
    const failed = await post(ASK)
    assert.equal(failed.status, 503, 'the reason of the first')
    assert.equal(failed.headers.get('x-gazeway-attempts'), '3')
    assert.equal((await records()).length, 6)
  })

  it('passes over an upstream whose API cannot express it', async () => {
    const reply = await post({ ...ASK, model: 'claude-first', n: 2 })
    assert.equal(reply.status, 200, await reply.clone().text())
    assert.deepEqual(asked(), [1, 0, 0])
  })

  it('asks one that rests all the same where no other can express it, and says for how long', async () => {
    two.on(CHAT, double.fails(429, { 'retry-after': '30' }))
    for (const model of ['rests-or-claude', 'claude-or-rests']) {
      await post({ ...ASK, model: 'two/only' })
      const reply = await post({ ...ASK, model, n: 2 })
      assert.deepEqual([reply.status, reply.headers.get('retry-after')], [429, '30'], model)
    }
    assert.equal(three.received.length, 0)
  })

  it('tries the next key of the same upstream first, and leaves the limited one alone for its Retry-After', async () => {
    two.on(CHAT, double.fails(429, { 'retry-after': '30' }), double.json(200, double.completion('Hello.')))
    const keys = () => two.received.map(({ headers }) => headers.authorization?.slice(-1))
    assert.deepEqual(originOf(await post({ ...ASK, model: 'two-first' })), ['two', '2'])
    assert.deepEqual(keys(), ['1', '2'])
    assert.deepEqual(originOf(await post({ ...ASK, model: 'two-first' })), ['two', '1'])
    assert.deepEqual(keys(), ['1', '2', '2'])
    assert.deepEqual(
      (await records()).map(({ status, provider_key }) => `${status} ${provider_key}`),
      ['error null', 'ok key_second', 'ok key_second'],
      'the record says which key of the provider was asked with',
    )
    two.on(CHAT, double.fails(429, { 'retry-after': '30' }))
    assert.deepEqual(originOf(await post({ ...ASK, model: 'two-first' })), ['default', '2'])
    assert.deepEqual(originOf(await post({ ...ASK, model: 'two-first' })), ['default', '1'], 'all of its keys rest')
    assert.deepEqual(keys(), ['1', '2', '2', '2'])
    await running.gateway.config.set({
      'pricing.price_per_1k_tokens_usd': 0.004,
      'upstream.connect_timeout_ms': ++settings,
    })
    const still = await post({ ...ASK, model: 'two-first' })
    assert.deepEqual(originOf(still), ['default', '1'], 'they rest though other settings have changed')
    const alone = await post({ ...ASK, model: 'two/only' })
    assert.equal(alone.status, 429, 'where nobody else can answer, it is asked all the same')
  })

  it('asks both endpoints of an upstream for a Response, then the next upstream', async () => {
    one.on('/responses', double.fails(404))
    one.on(CHAT, after503)
    const reply = await post({ model: 'any', input: 'Say hello.' }, '/responses')
    assert.equal(reply.status, 200)
    assert.deepEqual(originOf(reply), ['two', '3'])
    assert.deepEqual(
      (await records()).map(({ path, upstream }) => [path, upstream === 'two']),
      [
        ['/v1/responses', false],
        ['/v1/chat/completions', false],
        ['/v1/responses', true],
      ],
    )
  })

  it('stays with the upstream that has stored what a Response counts on', async () => {
    one.on('/responses', after503)
    const reply = await post({ model: 'any', input: 'And?', previous_response_id: 'resp_of_nobody' }, '/responses')
    assert.equal(reply.status, 503)
    assert.deepEqual(asked(), [1, 0, 0])
  })

  it('answers Messages from whichever upstream can', async () => {
    three.on('/messages', refuses(529, 'overloaded_error', 'Overloaded'))
    const reply = await post({ ...ASK, model: 'claude-first', max_tokens: 10 }, '/messages')
    assert.equal(reply.status, 200)
    assert.deepEqual(originOf(reply), ['default', '2'])
    assert.equal(((await reply.json()) as { type: string }).type, 'message')
  })

  it('continues a Message that has begun, and charges for the candidate that answers alone', async () => {
    three.on('/messages', named(messageStream([]).slice(0, 1), 'break'))
    const { keys, calls, wallet } = running.gateway
    const terms = { scopes: ['inference' as const], billing: 'cost' as const, limits: { credit_limit_usd: 1 } }
    const { key, record } = await keys.create({ name: 'continued', ...terms })
    one.on(CHAT, double.sse(double.chunks(['Hello.'])))
    const body = { ...ASK, model: 'claude-first', max_tokens: 10, stream: true }
    const text = await (await post(body, '/messages', undefined, key)).text()
    assert.deepEqual([text.split('"type":"message_start"').length, text.includes('"id":"msg_double"')], [2, true])
    assert.match(text, /"type":"message_stop"\}\n\n: x-gazeway-call-id=/)
    await calls.flush()
    const [failed, answered] = await records()
    assert.deepEqual([failed?.status, answered?.status], ['error', 'ok'])
    // Its provider bills the prompt, of which its head told, and the time: the operator bears that.
    const { usage, upstream_cost_usd: borne } = failed as CallRecord
    assert.deepEqual([usage?.estimated, usage?.prompt_tokens], [true, 14])
    const { items, totals } = await wallet.usage({ caller_id: record.id, limit: 10 })
    /** Micro-dollars of a token, whatever it is of. */
    const each = items[0]?.price?.input ?? Number.NaN
    assert.equal(borne, ((usage?.total_tokens ?? 0) * each) / 1e6)
    const paid = (15 * each) / 1e6
    assert.equal(answered?.upstream_cost_usd, paid)
    assert.deepEqual(
      items.map(({ call_id, charged, billing, absorbed_usd }) => [call_id, charged, billing.total_usd, absorbed_usd]),
      [
        [answered?.call_id, true, paid, 0],
        [failed?.call_id, false, 0, borne],
      ],
    )
    assert.deepEqual([totals.total_usd, (await wallet.balances(record.id)).available_usd], [paid, -paid])
  })

  it('counts the prompt of a Message at whichever upstream can', async () => {
    const count = '/messages/count_tokens'
    const body = { model: 'claude-first', messages: ASK.messages }
    three.on(count, double.json(200, { input_tokens: 77 }))
    const counted = await post(body, count)
    assert.deepEqual([await counted.json(), originOf(counted)], [{ input_tokens: 77 }, ['claude', '1']])
    for (const behaviour of [refuses(529, 'overloaded_error', 'Overloaded'), double.drops]) {
      three.on(count, behaviour)
      const { input_tokens } = (await (await post(body, count)).json()) as { input_tokens: number }
      assert.ok(input_tokens > 1 && input_tokens < 77, `${input_tokens}: estimated for the second`)
    }
    three.on(count, refuses(400, 'invalid_request_error', 'messages: too short'))
    const refused = await post(body, count)
    assert.equal(refused.status, 400)
    assert.match(await refused.text(), /messages: too short/)
    assert.deepEqual(asked(), [0, 0, 4])
    const statuses = (await records()).map(({ path, status }) => [path, status])
    assert.deepEqual(
      statuses,
      ['ok', 'error', 'error', 'error'].map((status) => [`/v1${count}`, status]),
    )
  })

  it('draws the first by weight, and keeps the others', async () => {
    for (let i = 0; i < 40; i++) assert.equal((await post({ ...ASK, model: 'drawn' })).status, 200)
    const [first = 0, second = 0] = asked()
    assert.equal(first + second, 40)
    assert.ok(second > first && first > 0, `${first} and ${second} of 40 with weights 1 and 3`)
    two.on(CHAT, after503)
    one.on(CHAT, double.json(200, double.completion('Hello.')))
    for (let i = 0; i < 10; i++) assert.equal((await post({ ...ASK, model: 'drawn' })).status, 200)
  })

  it('marks the prompt cache of a provider of Messages from the second turn of a session', async () => {
    const input = ['Begin.', 'Yes.', 'Go on.'].map((content, i) => ({ role: i === 1 ? 'assistant' : 'user', content }))
    const asked = { model: 'claude-first', instructions: 'Be brief.', input }
    for (const more of [{}, { prompt_cache_key: 's1' }])
      assert.equal((await post({ ...asked, ...more }, '/responses')).status, 200)
    const [without, marked] = three.received.map(({ body }) => JSON.stringify(body).split('cache_control').length - 1)
    assert.deepEqual([without, marked], [0, 3])
  })

  it('keeps a session at its upstream and key, and moves it only while they fail', async () => {
    const turn = (session: string, model = 'drawn') => post({ ...ASK, model, prompt_cache_key: session })
    // So many that a quarter of them is surely more than two.
    const sessions = Array.from({ length: 72 }, (_, i) => `session ${i}`)
    const keys = () =>
      two.received.map(({ headers, body }) => [
        (body as { prompt_cache_key: string }).prompt_cache_key,
        headers.authorization,
      ])
    for (const session of sessions) await turn(session)
    const first = [one, two].map(({ received }) => received.map(({ body }) => body))
    const firstKeys = keys()
    assert.ok(
      first.every((bodies) => bodies.length > 2),
      `${first.map(({ length }) => length)} of weights 1 and 3`,
    )
    assert.equal(new Set(firstKeys.map(([, key]) => key)).size, 2, 'sessions are spread over the keys')
    for (const upstream of all()) upstream.received.length = 0
    for (const session of sessions) await turn(session)
    assert.deepEqual(
      [one, two].map(({ received }) => received.map(({ body }) => body)),
      first,
    )
    assert.deepEqual(keys(), firstKeys)

    const [[session = '', key] = []] = firstKeys
    two.on(CHAT, (response, request) => {
      const isLimited = request.headers.authorization === key
      const answer = isLimited
        ? refuses(429, 'rate_limit_error', 'slow down')
        : double.json(200, double.completion('Hello.'))
      return answer(response, request)
    })
    two.received.length = 0
    assert.equal((await turn(session)).status, 200)
    assert.deepEqual([two.received.length, two.received[0]?.headers.authorization], [2, key])
  })

  it('ends when its client disconnects, and calls no other candidate', async () => {
    one.on(CHAT, double.sse(double.chunks([], null).slice(0, 1), 'hang'))
    const leaving = new AbortController()
    const made = post({ ...ASK, stream: true }, CHAT, leaving.signal).catch(() => null)
    await until(() => one.received.length > 0)
    leaving.abort()
    await made
    await one.received[0]?.aborted
    await until(async () => (await records()).length > 0)
    assert.deepEqual(
      (await records()).map(({ status }) => status),
      ['aborted'],
    )
    assert.deepEqual(asked(), [1, 0, 0])
  })
})
