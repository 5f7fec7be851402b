import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, it } from 'node:test'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { startGateway } from './gateway.ts'
import { ASK, errorOf, eventsOf, happens, openGateway, QUESTION, UNFINISHED } from './http-gateway.ts'

const { server, running, post, records, sentBody } = await openGateway()

describe('the fallback of POST /v1/responses', () => {
  for (const [name, behaviour] of [
    ['breaks off', double.sse(double.responseEvents(['Fo', 'und.']).slice(0, 4), 'break')],
    ['is cut', double.sse(double.responseEvents(['Fo', 'und.']).slice(0, 4), 'none')],
    [
      'fails',
      double.sse([...double.responseEvents(['Fo']).slice(0, 4), { type: 'response.failed', response: {} }], 'none'),
    ],
  ] as const)
    it(`falls back where a stream of events that was not asked for ${name}`, async () => {
      server.on('/responses', behaviour)
      server.on('/chat/completions', double.json(200, double.completion('From chat.')))
      const reply = await post('/v1/responses', QUESTION)
      assert.deepEqual([reply.status, reply.headers.get('x-gazeway-route')], [200, 'chat_fallback'])
      await until(async () => (await records()).length === 2)
      const [second, first] = await records()
      assert.deepEqual([first?.status, first?.usage?.estimated, second?.status], ['error', true, 'ok'])
    })

  const failures: Record<string, double.Behaviour> = {
    'a refusal': double.fails(400),
    'an unknown model': double.json(404, { error: { message: 'There is no such model.' } }),
    'a rate limit': double.fails(429),
    'an error of the server': double.fails(500),
    'a dropped connection': double.drops,
    silence: double.hangs,
    'malformed JSON': double.malformed,
    'a failed response': double.json(200, {
      ...double.response(''),
      status: 'failed',
      error: { message: 'busy' },
      usage: null,
    }),
    'a stream that breaks before its first output': double.sse(double.responseEvents(['x']).slice(0, 2), 'break'),
    'a stream that ends before its first output': double.sse(double.responseEvents(['x']).slice(0, 2), 'none'),
    'a stream that only says that it is alive': double.sse(
      [
        ...double.responseEvents(['x']).slice(0, 2),
        { type: 'keepalive', sequence_number: 2 },
        { type: 'ping', sequence_number: 3 },
      ],
      'none',
    ),
    'a stream whose only event is a failure without its blank line': (response) => {
      const failed = { type: 'response.failed', response: { error: { message: 'busy' } } }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(`event: response.failed\ndata: ${JSON.stringify(failed)}`)
    },
    'a stream that fails before its first output': double.sse([
      ...double.responseEvents(['x']).slice(0, 1),
      { type: 'response.failed', response: { error: { message: 'busy' } } },
    ]),
  }
  for (const [name, failure] of Object.entries(failures))
    it(`falls back after ${name}`, async () => {
      for (const stream of [false, true]) {
        server.on('/responses', failure)
        const chat = stream
          ? double.sse(double.chunks(['From ', 'chat.']))
          : double.json(200, double.completion('From chat.'))
        server.on('/chat/completions', chat)
        const reply = await post('/v1/responses', { ...QUESTION, stream })
        assert.equal(reply.status, 200)
        assert.equal(reply.headers.get('x-gazeway-route'), 'chat_fallback')
        assert.equal(sentBody().model, 'llm-4.20-0309-reasoning')
        const text = await reply.text()
        if (stream) {
          const events = eventsOf(text)
          assert.equal(events.at(-1).type, 'response.completed')
          assert.deepEqual(
            events.map((event) => event.sequence_number),
            events.map((_, i) => i),
          )
          assert.equal(events.at(-1).response.usage.total_tokens, 15)
        } else assert.equal(JSON.parse(text).output[0].content[0].text, 'From chat.')
      }
      await until(async () => (await records()).length === 4)
      const [second, first] = await records()
      assert.equal(second?.fallback_from, first?.call_id)
      assert.deepEqual([first?.status, second?.status], ['error', 'ok'])
      assert.deepEqual([first?.usage ?? null, second?.usage?.total_tokens], [null, 15], 'usage is counted once')
    })

  it('records usage and cost of a response that failed before its first output', async () => {
    const failed = { ...double.response(''), output: [], status: 'failed', error: { message: 'busy' } }
    const { output: _, ...without } = failed
    const begun = double.responseEvents([]).slice(0, 1)
    server.on('/chat/completions', double.fails(500))
    for (const [name, stream, behaviour] of [
      ['whole', false, double.json(200, failed)],
      ['whole, without output', false, double.json(200, without)],
      ['whole, asked for as a stream', true, double.json(200, failed)],
      ['a stream', true, double.sse([...begun, { type: 'response.failed', response: failed }], 'none')],
      ['an unasked stream', false, double.sse([...begun, { type: 'response.failed', response: failed }], 'none')],
    ] as const) {
      await running.gateway.store.db.deleteFrom('calls').execute()
      await running.gateway.store.db.deleteFrom('call_totals').execute()
      server.on('/responses', behaviour)
      const { message } = await errorOf(await post('/v1/responses', { ...QUESTION, stream }))
      assert.match(String(message), /reported an error: busy/)
      await until(async () => (await records()).length === 2)
      const [, first] = await records()
      assert.deepEqual([name, first?.status, first?.http_status], [name, 'error', 200])
      assert.deepEqual(first?.usage, { prompt_tokens: 20, completion_tokens: 7, total_tokens: 27 }, name)
      assert.ok((first.upstream_cost_usd ?? 0) > 0, name)
    }
  })

  for (const [name, sent] of Object.entries({ 'a finish reason and ': double.chunks(['Hello.']), '': UNFINISHED }))
    it(`treats the fallback’s answer as complete at ${name}[DONE], and ignores the rest`, async () => {
      const whole = `${sent.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`
      const ends: Record<string, (response: ServerResponse) => void> = {
        'the end': (response) => response.end(),
        'a broken connection': (response) => setTimeout(() => response.socket?.resetAndDestroy(), 50),
        silence: () => {},
      }
      server.on('/responses', double.fails(500))
      for (const [after, end] of Object.entries(ends)) {
        server.on('/chat/completions', (response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' })
          response.write(whole)
          end(response)
        })
        const reply = await post('/v1/responses', { ...QUESTION, stream: true })
        const { type, response } = eventsOf(await reply.text()).at(-1)
        assert.deepEqual([after, type, response.output_text], [after, 'response.completed', 'Hello.'])
        const callId = reply.headers.get('x-gazeway-call-id')
        const record = async () => (await records()).find(({ call_id }) => call_id === callId)
        await until(async () => (await record()) !== undefined)
        assert.equal((await record())?.status, 'ok')
        if (after === 'silence') await server.received.at(-1)?.aborted
      }
    })

  it('answers with a stream or a whole Response as it was asked, whatever the fallback’s provider sends', async () => {
    server.on('/responses', double.fails(500))
    server.on('/chat/completions', double.json(200, double.completion('From chat.')))
    const streamed = await post('/v1/responses', { ...QUESTION, stream: true })
    assert.equal(streamed.headers.get('content-type'), 'text/event-stream')
    const events = eventsOf(await streamed.text())
    assert.deepEqual([events.at(0).type, events.at(-1).type], ['response.created', 'response.completed'])
    server.on('/chat/completions', double.sse(double.chunks(['From ', 'chat.'])))
    const whole = await post('/v1/responses', QUESTION)
    assert.equal(whole.headers.get('content-type'), 'application/json')
    for (const { status, output_text, usage } of [events.at(-1).response, await whole.json()])
      assert.deepEqual([status, output_text, usage.total_tokens], ['completed', 'From chat.', 15])
    await until(async () => (await records()).length === 4)
    assert.deepEqual(
      (await records()).map(({ status, usage }) => [status, usage?.total_tokens]),
      Array(2)
        .fill([
          ['ok', 15],
          ['error', undefined],
        ])
        .flat(),
    )
  })

  it('hides its key in the headers that it passes on, too', async () => {
    const told = { 'x-ratelimit-key': 'Bearer upstream-secret-key', 'x-ratelimit-limit-requests': '100' }
    server.on('/responses', double.fails(500))
    server.on('/chat/completions', double.json(200, double.completion('Hello.'), told))
    const { headers } = await post('/v1/chat/completions', ASK)
    assert.deepEqual(
      Object.keys(told).map((name) => headers.get(name)),
      ['Bearer ***', '100'],
    )
  })

  it('gathers no more of an answer than it would keep of a whole reply', async () => {
    server.on('/responses', double.fails(500))
    const [, piece] = double.chunks(['x'.repeat(1024 * 1024)], null)
    server.on('/chat/completions', saysTooMuch('text/event-stream', `data: ${JSON.stringify(piece)}\n\n`))
    assert.equal((await post('/v1/responses', QUESTION)).status, 500, 'the first error')
    await server.received.at(-1)?.aborted
    await until(async () => (await records()).length === 2)
    assert.match((await records())[0]?.error ?? '', /its reply is larger than 67108864 bytes/)
  })

  it('names the fallback’s model from the first event on, and where the provider does not', async () => {
    server.on('/responses', double.fails(500))
    const nameless = { ...double.completion('From chat.'), model: undefined }
    for (const [chat, told] of [
      [double.sse(double.chunks(['From chat.'])), 'double-chat'],
      [double.json(200, nameless), 'llm-4.20-0309-reasoning'],
    ] as const) {
      server.on('/chat/completions', chat)
      const events = eventsOf(await (await post('/v1/responses', { ...QUESTION, stream: true })).text())
      for (const { response } of events.slice(0, 2)) assert.equal(response.model, 'llm-4.20-0309-reasoning')
      assert.equal(events.at(-1).response.model, told)
    }
    const whole = (await (await post('/v1/responses', QUESTION)).json()) as { model: string }
    assert.equal(whole.model, 'llm-4.20-0309-reasoning')
  })

  it('gives the first error where a stream that was not asked for breaks off', async () => {
    server.on('/responses', double.fails(403))
    server.on('/chat/completions', double.sse(double.chunks(['From ', 'chat.']).slice(0, 2), 'break'))
    assert.equal((await post('/v1/responses', QUESTION)).status, 403)
  })

  for (const failed of double.failedChoices)
    it(`gives no answer of the fallback’s that its provider gave up: ${JSON.stringify(failed)}`, async () => {
      server.on('/responses', double.fails(403))
      for (const chat of [
        double.json(200, double.failedCompletion('Hel', failed)),
        double.sse(double.failedChunks(['Hel'], failed)),
      ]) {
        server.on('/chat/completions', chat)
        assert.equal((await post('/v1/responses', QUESTION)).status, 403)
      }
      const streamed = await post('/v1/responses', { ...QUESTION, stream: true })
      const events = eventsOf(await streamed.text())
      assert.deepEqual([events.at(-2).type, events.at(-1).type], ['error', 'response.failed'])
      assert.equal(events.at(-1).response.output_text, 'Hel')
      await until(async () => (await records()).length === 6)
      const fallbacks = (await records()).filter(({ fallback_from }) => fallback_from !== null)
      for (const { status, usage } of fallbacks) assert.deepEqual([status, usage === null], ['error', false])
    })

  it('gives the first error where the fallback’s stream holds no answer', async () => {
    server.on('/responses', double.fails(403))
    server.on('/chat/completions', double.sse([]))
    assert.equal((await post('/v1/responses', { ...QUESTION, stream: true })).status, 403)
    await until(async () => (await records()).length === 2)
    assert.equal((await records())[0]?.status, 'error')
  })

  it('never treats text as the end of the stream', async () => {
    server.on('/responses', double.sse(double.responseEvents(['Then "response.completed" comes.']).slice(0, 4), 'none'))
    const events = eventsOf(await (await post('/v1/responses', { ...QUESTION, stream: true })).text())
    assert.equal(events.at(-1).type, 'error')
  })

  it('does not fall back once output has begun', async () => {
    server.on('/responses', double.sse(double.responseEvents(['Fo', 'und.']).slice(0, 4), 'break'))
    const text = await (await post('/v1/responses', { ...QUESTION, stream: true })).text()
    const events = eventsOf(text)
    assert.deepEqual([events.at(-1).type, events.at(-1).sequence_number], ['error', 4])
    assert.match(events.at(-1).message, /its stream was cut off before/)
    assert.equal(server.received.length, 1)
  })

  it('gives the first error when both fail', async () => {
    server.on('/responses', double.fails(403))
    for (const second of [double.fails(500), double.drops, double.malformed]) {
      server.on('/chat/completions', second)
      for (const stream of [false, true]) {
        const reply = await post('/v1/responses', { ...QUESTION, stream })
        assert.equal(reply.status, 403)
        assert.equal((await errorOf(reply)).message, 'double says 403')
      }
    }
    server.on('/responses', double.hangs)
    assert.equal((await post('/v1/responses', QUESTION)).status, 504)
  })

  it('keeps them where it falls back', async () => {
    server.on('/responses', double.fails(500))
    let received = ''
    server.on('/chat/completions', (response, request) => {
      received = request.text
      return double.json(200, double.completion('x'))(response, request)
    })
    const schema = '{"type":"object","properties":{"n":{"maximum":9223372036854775807,"minimum":1.5}}}'
    const tools = `[{"type":"function","name":"draw","parameters":${schema}}]`
    await post('/v1/responses', `{"input":"Draw.","seed":12345678901234567890,"top_logprobs":0,"tools":${tools}}`)
    for (const part of ['"seed":12345678901234567890', `"parameters":${schema}`]) assert.ok(received.includes(part))
    assert.ok(!received.includes('logprobs'))
  })

  it('bounds the fallback’s answer by the name that its model knows', async () => {
    const bounds = () =>
      server.received
        .filter(({ path }) => path === '/v1/chat/completions')
        .map(({ body }) => body as Record<string, unknown>)
        .map(({ max_tokens, max_completion_tokens }) => [max_tokens, max_completion_tokens])
    server.on('/responses', double.fails(500))
    server.on('/chat/completions', double.json(200, double.completion('Hello.')))
    await post('/v1/responses', { ...QUESTION, max_output_tokens: 50 })
    assert.deepEqual(bounds(), [[50, undefined]])
    for (const stream of [false, true]) {
      const fresh = await startGateway(server.url)
      server.received.length = 0
      server.on('/chat/completions', double.renamesLimit)
      for (let n = 0; n < 2; n++) {
        const reply = await fetch(`${fresh.url}/v1/responses`, {
          method: 'POST',
          headers: { authorization: `Bearer ${fresh.key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ ...QUESTION, max_output_tokens: 50, stream }),
        })
        assert.equal(reply.status, 200)
        assert.match(await reply.text(), /"output_text":"Hello\."/)
      }
      await fresh.close()
      assert.deepEqual(bounds(), [
        [50, undefined],
        [undefined, 50],
        [undefined, 50],
      ])
    }
  })

  it('does not send again the field that was refused', async () => {
    server.on('/responses', double.fails(400, {}, 'temperature'))
    server.on('/chat/completions', double.json(200, double.completion('x')))
    await post('/v1/responses', { ...QUESTION, temperature: 0.3, top_p: 0.9 })
    assert.deepEqual([sentBody().temperature, sentBody().top_p], [undefined, 0.9])
  })
})

/** Says one piece of 1 MiB over and over, at its reader's pace and far beyond what sockets hold, until nobody listens. */
const saysTooMuch =
  (type: string, piece: string): double.Behaviour =>
  async (response) => {
    response.writeHead(200, { 'content-type': type })
    const closed = happens(response, 'close')
    for (let sent = 0; sent < 256 && !response.destroyed; sent++)
      if (!response.write(piece)) await Promise.race([happens(response, 'drain'), closed])
    response.end()
  }
