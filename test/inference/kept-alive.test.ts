import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { receiverOf } from '../../adapters/web/http-receiver.ts'
import type { CallRecord } from '../../src/calls/call-record.ts'
import type { Calls } from '../../src/calls/calls.ts'
import { GazewayError } from '../../src/errors.ts'
import { type Identity, identityWithoutKey } from '../../src/identity/identity.ts'
import { ENDPOINTS, type Endpoint } from '../../src/inference/api/endpoints.ts'
import { VERBATIM_PATHS } from '../../src/inference/api/verbatim-paths.ts'
import { responseEvents } from '../../src/inference/convert/response-events.ts'
import { createUpstream, type OpenCalls } from '../../src/inference/inference.ts'
import { createLateTerms } from '../../src/inference/settle/abandoned-answer.ts'
import type { Micros } from '../../src/text/money.ts'
import type { Reservation } from '../../src/wallet/budget/reservation.ts'
import { watchSilence } from '../../src/wire/idle-watch.ts'
import { message, messageStream, named, refuses } from '../doubles/anthropic.ts'
import { UNBILLED } from '../doubles/unbilled.ts'
import * as double from '../doubles/upstream.ts'
import { ask, askAi, type Path } from '../matrix/clients.ts'

const TIMEOUT_MS = 60_000
/** Heartbeats come every 20 ms here, and every 15 s elsewhere. */
const heartbeat = watchSilence(20)
const COMMENT = ': keepalive\n\n'
const PING = 'event: ping\ndata: {"type":"ping"}\n\n'

const PATHS = { M: '/messages', R: '/responses', C: '/chat/completions' } as const
const BODIES: Readonly<Record<Path, object>> = {
  M: { max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] },
  R: { input: 'Hello', store: false },
  C: { messages: [{ role: 'user', content: 'Hello' }] },
}
/** Type of the event that starts an answer, or the role of its chunk. */
const STARTS: Readonly<Record<Path, RegExp>> = {
  M: /"type":"message_start"/g,
  R: /"type":"response\.created"/g,
  C: /"role":"assistant"/g,
}

describe('the client of a stream', { timeout: 30_000 }, () => {
  let upstream: double.UpstreamDouble
  let gateway: Server
  let calls: OpenCalls
  let recorded: CallRecord[] = []
  let refusals: GazewayError[] = []
  let served: Promise<unknown>
  /** Admission of a caller with a key. */
  let admission: () => Promise<Identity | null>
  /** Budget of such a caller, and the part that its calls took of it. */
  let budgetMicros: Micros
  let takenMicros: Micros
  /** Bytes that the client was sent, with an event `beat` for each heartbeat. */
  let sent = ''
  const beats = new EventEmitter<{ beat: [] }>()

  before(async () => {
    upstream = await double.startUpstream()
    gateway = createServer(async (incoming, outgoing) => {
      const text = (await incoming.toArray()).join('')
      const path = (incoming.url ?? '').replace('/v1', '')
      const { write, end } = outgoing
      const noted = (bytes: unknown) => {
        if (bytes !== undefined) sent += String(bytes)
        if (bytes === COMMENT || bytes === PING) beats.emit('beat')
      }
      Object.assign(outgoing, {
        write(bytes: Buffer, ...rest: []) {
          noted(bytes)
          return Reflect.apply(write, outgoing, [bytes, ...rest])
        },
        end(bytes?: Buffer) {
          noted(bytes)
          return Reflect.apply(end, outgoing, bytes === undefined ? [] : [bytes])
        },
      })
      const receiver = receiverOf(
        {
          incoming,
          outgoing,
          requestId: 'r1',
          callerId: null,
          address: null,
          isPaid: false,
          isLenient: false,
          isCacheOff: false,
        },
        TIMEOUT_MS,
      )
      if (incoming.headers['x-own-beats']) receiver.beat = () => void beats.emit('beat')
      const request = { bytes: Buffer.from(text), text, json: JSON.parse(text) }
      const callerId = incoming.headers['x-caller']?.toString() ?? null
      const context = { surface: 'http' as const, callerId, requestId: 'r1' }
      const { call, callVerbatim } = calls.current()
      const route = VERBATIM_PATHS.find((one) => one.path === path)
      served = route
        ? callVerbatim(
            { route, target: path, id: null, body: request, formType: null, holdsRequests: false },
            receiver,
            context,
          )
        : call({ endpoint: path as Endpoint, request, retries: 0, needsText: false }, receiver, context)
      await served.catch((error) => {
        if (outgoing.writableEnded) return
        outgoing.writeHead(error.status).end(JSON.stringify({ error: error.message }))
      })
    }).listen(0, '127.0.0.1')
    await once(gateway, 'listening')
  })
  beforeEach(async () => {
    recorded = []
    refusals = []
    sent = ''
    budgetMicros = Infinity
    takenMicros = 0
    upstream.received.length = 0
    for (const path of ENDPOINTS) upstream.on(path, double.fails(404))
    calls = await openCalls()
  })
  afterEach(() => calls.close())
  after(async () => {
    gateway.close()
    gateway.closeAllConnections()
    await upstream.close()
  })

  const reservations: typeof UNBILLED.reservations = {
    ...UNBILLED.reservations,
    reserve(...asked) {
      const unlimited = UNBILLED.reservations.reserve(...asked) as Reservation
      return {
        ...unlimited,
        left: () => budgetMicros,
        extend: async () => budgetMicros === Infinity,
        take(micros) {
          takenMicros += micros
          return unlimited.take(micros)
        },
      }
    },
  }

  function openCalls(): Promise<OpenCalls> {
    const at = (id: string, protocol: 'openai' | 'anthropic') => ({
      id,
      provider: upstream.url,
      protocol,
      api_key: 'secret-of-the-double',
      headers: {},
      aliases: {},
      models: { primary: 'a', fallback: 'b', chat: 'c' },
      timeout_ms: TIMEOUT_MS,
      connect_timeout_ms: 5000,
      max_retries: 0,
    })
    const route = (model: string, ...to: string[]) => ({
      model,
      to: to.map((one) => `${one}/m`),
      strategy: 'order' as const,
    })
    return createUpstream({
      config: { ...at('default', 'openai'), allowed_paths: [] },
      named: [at('chat', 'openai'), at('claude', 'anthropic'), at('other', 'anthropic')],
      routes: [
        route('over-chat', 'chat'),
        route('over-claude', 'claude'),
        route('claude-claude', 'claude', 'other'),
        route('claude-chat', 'claude', 'chat'),
        route('chat-claude', 'chat', 'claude'),
        route('chat-chat', 'default', 'chat'),
        route('default-chat', 'default', 'chat'),
      ],
      calls: { record: (record: CallRecord) => void recorded.push(record) } as unknown as Calls,
      heartbeat,
      billing: {
        ...UNBILLED,
        reservations,
        identity: () => admission(),
        maxOutputTokens: 20,
        noteRefusal: ({ error }) => void refusals.push(error),
      },
      late: createLateTerms(0),
      prices: { models: { m: { input: 1, output: 3 } }, price_per_1k_tokens_usd: 0.003 },
      storeContent: false,
      countTokens: async (text) => text.length,
    }).openCalls()
  }

  const door = () => ({ url: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`, key: 'any', headers: {} })
  const countOf = (pattern: RegExp | string) => sent.split(pattern).length - 1
  const statuses = () => recorded.map(({ status }) => status)

  /** A stream that falls silent until the client has heard something: before its head, and before each event. */
  const halting =
    (events: object[], end: 'whole' | 'break' = 'whole'): double.Behaviour =>
    async (response) => {
      await once(beats, 'beat')
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      for (const event of events) {
        await once(beats, 'beat')
        const { type } = event as { type?: string }
        response.write(`${type ? `event: ${type}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
      }
      await once(beats, 'beat')
      if (end === 'break') response.socket?.destroy()
      else response.end('type' in (events[0] ?? {}) ? undefined : 'data: [DONE]\n\n')
    }
  const whole = (response: object) => [...responseEvents(response)]
  const chat = () => double.chunks(['Hel', 'lo'])

  for (const [path, model, events, isNative] of [
    ['M', 'over-claude', messageStream(['Hel', 'lo']), true],
    ['M', 'over-chat', chat(), false],
    ['R', 'default/m', whole(double.response('Hello')), true],
    ['R', 'over-chat', chat(), false],
    ['R', 'over-claude', messageStream(['Hel', 'lo']), false],
    ['C', 'over-chat', chat(), true],
    ['C', 'over-claude', messageStream(['Hel', 'lo']), false],
  ] as [Path, string, object[], boolean][])
    it(`of ${PATHS[path]} with ${model} hears something in each silence, which its SDK ignores`, async () => {
      const isResponses = model === 'default/m'
      upstream.on(
        isResponses ? '/responses' : model === 'over-chat' ? '/chat/completions' : '/messages',
        halting(events),
      )
      const got = await ask(path, { ...BODIES[path], model, stream: true }, door())
      assert.equal(got.said?.text, 'Hello', got.reason)
      if (!isNative) assert.deepEqual(got.faults, [])
      assert.equal(countOf(STARTS[path]), 1)
      assert.ok(countOf(path === 'M' ? PING : COMMENT) >= events.length, sent)
      assert.deepEqual(statuses().at(-1), 'ok')
    })

  for (const path of ['R', 'C'] as const)
    it(`of ${PATHS[path]} in the AI SDK hears something, too`, async () => {
      upstream.on('/chat/completions', halting(chat()))
      assert.deepEqual(await askAi(path, 'over-chat', door()), { text: 'Hello', calls: [] })
    })

  it('of a path that is passed on verbatim hears something, too', async () => {
    const event = { id: 'c1', object: 'text_completion', choices: [{ index: 0, text: 'Hello', finish_reason: 'stop' }] }
    upstream.on('/completions', halting([event]))
    const body = JSON.stringify({ model: 'over-chat', prompt: 'Hello', stream: true })
    const text = await (await fetch(`${door().url}/v1/completions`, { method: 'POST', body })).text()
    assert.equal(text.replaceAll(COMMENT, ''), `data: ${JSON.stringify(event)}\n\ndata: [DONE]\n\n`)
    assert.ok(countOf(COMMENT) >= 3)
  })

  it('of a path that is passed on verbatim gets a whole reply that comes late as events', async () => {
    const late =
      (status: number, body: object): double.Behaviour =>
      async (...exchange) => {
        await once(beats, 'beat')
        await double.json(status, body)(...exchange)
      }
    const answer = {
      id: 'c1',
      object: 'text_completion',
      choices: [{ index: 0, text: 'Hello', finish_reason: 'stop' }],
    }
    upstream.on('/completions', late(200, answer), late(400, { error: { message: 'Too long.' } }))
    const body = JSON.stringify({ model: 'over-chat', prompt: 'Hello', stream: true })
    const read = async () => {
      const reply = await fetch(`${door().url}/v1/completions`, { method: 'POST', body })
      return (await reply.text()).replaceAll(COMMENT, '')
    }
    assert.equal(await read(), `data: ${JSON.stringify(answer)}\n\ndata: [DONE]\n\n`)
    assert.match(await read(), /^data: \{"error":\{.*Too long\./)
  })

  const start = messageStream([]).slice(0, 1)
  const other = messageStream(['Hel', 'lo'])
  for (const [at, [path, model, first, second]] of [
    ['M', 'claude-claude', [PATHS.M, halting(start, 'break')], [PATHS.M, named(other)]],
    ['M', 'claude-claude', [PATHS.M, halting(start, 'break')], [PATHS.M, double.json(200, message('Hello'))]],
    ['M', 'claude-chat', [PATHS.M, halting(start, 'break')], [PATHS.C, double.sse(chat())]],
    ['M', 'claude-chat', [PATHS.M, halting(start, 'break')], [PATHS.C, double.json(200, double.completion('Hello'))]],
    ['M', 'chat-claude', [PATHS.C, halting(chat().slice(0, 1), 'break')], [PATHS.M, named(other)]],
    [
      'R',
      'default/m',
      [PATHS.R, halting(whole(double.response('Hello')).slice(0, 2), 'break')],
      [PATHS.C, double.sse(chat())],
    ],
    ['R', 'chat-claude', [PATHS.C, halting(chat().slice(0, 1), 'break')], [PATHS.M, named(other)]],
    ['C', 'chat-chat', [PATHS.C, halting(chat().slice(0, 1), 'break')], [PATHS.C, double.sse(chat())]],
    ['C', 'claude-chat', [PATHS.M, halting(start, 'break')], [PATHS.C, double.json(200, double.completion('Hello'))]],
  ].entries() as Iterable<[number, [Path, string, [string, double.Behaviour], [string, double.Behaviour]]]>)
    it(`of ${PATHS[path]} with ${model} gets one answer, of the second candidate once the first has begun, case ${at}`, async () => {
      if (first[0] === second[0]) upstream.on(first[0], first[1], second[1])
      else for (const [path, behaviour] of [first, second]) upstream.on(path, behaviour)
      const got = await ask(path, { ...BODIES[path], model, stream: true }, door())
      assert.equal(got.said?.text, 'Hello', got.reason)
      if (path !== 'C') assert.deepEqual(got.faults, [])
      assert.equal(countOf(STARTS[path]), 1, sent)
      const [failed, answered] = recorded.slice(-2)
      assert.deepEqual(
        [failed?.status, answered?.status, answered?.fallback_from],
        ['error', 'ok', recorded[0]?.call_id],
      )
      assert.deepEqual([failed?.usage, answered?.usage?.completion_tokens], [null, 5])
    })

  for (const path of ['M', 'R', 'C'] as const)
    it(`of ${PATHS[path]} gets a refusal that comes late as an event, in its own format`, async () => {
      const late: double.Behaviour = async (...exchange) => {
        await once(beats, 'beat')
        await double.json(429, { error: { message: 'Slow down.', type: 'rate_limit_error', code: null } })(...exchange)
      }
      upstream.on('/chat/completions', late)
      const got = await ask(path, { ...BODIES[path], model: 'over-chat', stream: true }, door())
      assert.deepEqual([got.said, got.status, got.faults], [null, 200, []])
      assert.match(got.reason, /Slow down\./)
      assert.equal(((await served) as { failure: Error }).failure.name, 'GazewayError')
    })

  /** Waits until the client has heard something twice. */
  const heardTwice = async () => {
    await once(beats, 'beat')
    await once(beats, 'beat')
  }
  for (const path of ['M', 'R', 'C'] as const) {
    const waiting = () => ({ ...door(), headers: { 'x-caller': 'key_1' } })
    const ways: [string, string, double.Behaviour][] = [
      ['over-chat', '/chat/completions', double.sse(chat())],
      ['over-claude', '/messages', named(messageStream(['Hel', 'lo']))],
    ]

    it(`of ${PATHS[path]} hears something while its call waits to be admitted, and is answered`, async () => {
      for (const [model, at, answer] of ways) {
        sent = ''
        admission = () => heardTwice().then(() => null)
        upstream.on(at, answer)
        const got = await ask(path, { ...BODIES[path], model, stream: true }, waiting())
        assert.deepEqual([got.said?.text, got.faults, countOf(STARTS[path])], ['Hello', [], 1], got.reason)
        assert.ok(countOf(path === 'M' ? PING : COMMENT) >= 2, sent)
      }
    })

    it(`of ${PATHS[path]} gets what is refused after such a wait as an event, in its own format`, async () => {
      const refusal = () => new GazewayError('budget_reached', 'The budget of this key is used up.')
      admission = () => heardTwice().then(() => Promise.reject(refusal()))
      const got = await ask(path, { ...BODIES[path], model: 'over-chat', stream: true }, waiting())
      assert.deepEqual([got.said, got.status, got.faults], [null, 200, []])
      assert.match(got.reason, /The budget of this key is used up\./)
      await assert.rejects(served, { code: 'budget_reached' })
      assert.deepEqual([refusals.map(({ code }) => code), upstream.received], [['budget_reached'], []])

      admission = async () => null
      upstream.on('/chat/completions', double.fails(429))
      assert.equal((await ask(path, { ...BODIES[path], model: 'over-chat', stream: true }, waiting())).status, 429)

      admission = () => heardTwice().then(() => null)
      const late = await ask(path, { ...BODIES[path], model: 'over-chat', stream: true }, waiting())
      assert.deepEqual([late.said, late.status, late.faults], [null, 200, []])
    })
  }

  for (const path of ['R', 'C'] as const)
    it(`of ${PATHS[path]} reads in its own format that its budget ends, after heartbeats, and pays what it got`, async () => {
      const key = identityWithoutKey({ id: 'key_1', name: 'one', scopes: new Set(), wallet: null })
      admission = async () => ({ ...key, budgets: [{ per: 'day', micros: budgetMicros }] })
      budgetMicros = 300
      const words = double.chunks(Array.from({ length: 9 }, () => 'word '))
      upstream.on('/chat/completions', halting(words))
      const asked = { ...BODIES[path], model: 'over-chat', stream: true }
      const got = await ask(path, asked, { ...door(), headers: { 'x-caller': 'key_1' } })
      assert.deepEqual([got.said, got.status, got.faults], [null, 200, []], got.reason)
      assert.match(got.reason, /was cut off: the budget/)
      await served
      const delivered = sent.split('word').length - 1
      assert.ok(delivered > 0 && delivered < 9 && countOf(COMMENT) > 0, sent)
      assert.ok(takenMicros >= delivered * 15 && takenMicros <= 300, `${takenMicros} for ${delivered} words`)
    })

  it('that has heartbeats of its own hears no others, and gets a refusal that comes late as a status', async () => {
    upstream.on('/chat/completions', async (...exchange) => {
      await once(beats, 'beat')
      await double.fails(429)(...exchange)
    })
    const headers = { 'x-own-beats': 'yes' }
    const got = await ask('C', { ...BODIES.C, model: 'over-chat', stream: true }, { ...door(), headers })
    assert.deepEqual([got.status, countOf(COMMENT)], [429, 0])
  })

  it('of /responses gets the first answer, however long the instructions that its first events repeat', async () => {
    upstream.on('/chat/completions', double.sse(chat()))
    const instructions = 'x'.repeat(600_000)
    const got = await ask('R', { ...BODIES.R, instructions, model: 'chat-claude', stream: true }, door())
    assert.deepEqual([got.said?.text, statuses()], ['Hello', ['error', 'ok']], got.reason)
    assert.deepEqual(
      upstream.received.map(({ path }) => path),
      ['/v1/responses', '/v1/chat/completions'],
    )
  })

  it('of /responses gets no second one once the first has begun, whatever stood in for it', async () => {
    const events = whole({
      ...double.response('Hello'),
      output: [{ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }] }],
    })
    const done = events.findIndex(({ type }) => type === 'response.output_item.done')
    upstream.on('/responses', halting(events.slice(0, done + 1), 'break'))
    upstream.on('/chat/completions', double.fails(503), double.sse(chat()))
    const got = await ask('R', { ...BODIES.R, model: 'default-chat', stream: true }, door())
    assert.deepEqual([got.said, countOf(STARTS.R), statuses()], [null, 1, ['error', 'error']], got.reason)
    const [number] = /"sequence_number":\d+/.exec(sent.slice(sent.indexOf('event: error'))) ?? []
    assert.equal(number, `"sequence_number":${done + 1}`)
  })

  it('of /messages gets the last refusal in the provider’s own words, after the beginning of another', async () => {
    upstream.on('/messages', halting(start, 'break'), refuses(529, 'overloaded_error', 'Overloaded'))
    const got = await ask('M', { ...BODIES.M, model: 'claude-claude', stream: true }, door())
    assert.deepEqual([got.said, got.faults, countOf(STARTS.M)], [null, [], 1])
    assert.match(sent, /event: error\n/)
    assert.deepEqual(statuses(), ['error', 'error'])
  })

  it('ends the upstream at once when it leaves between heartbeats', async () => {
    upstream.on('/messages', double.hangs)
    const leaving = new AbortController()
    const body = JSON.stringify({ ...BODIES.M, model: 'over-claude', stream: true })
    const reply = await fetch(`${door().url}/v1/messages`, { method: 'POST', body, signal: leaving.signal })
    assert.equal(reply.headers.get('content-type'), 'text/event-stream')
    leaving.abort()
    await upstream.received[0]?.aborted
    await served
    assert.deepEqual([statuses(), recorded[0]?.call_id], [['aborted'], reply.headers.get('x-gazeway-call-id')])
  })
})
