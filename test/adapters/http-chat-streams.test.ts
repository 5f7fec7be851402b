import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, it } from 'node:test'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { startGateway } from './gateway.ts'
import { ASK, errorOf, eventsOf, openGateway, QUESTION, UNFINISHED } from './http-gateway.ts'

const { server, running, post, records, sentBody } = await openGateway()

describe('streams of POST /v1/chat/completions', () => {
  it('streams chunk by chunk, counts usage and leaves out the chunk that the client did not ask for', async () => {
    server.on('/chat/completions', double.sse(double.chunks(['Hel', 'lo.'])))
    const reply = await post('/v1/chat/completions', { ...ASK, stream: true })
    assert.equal(reply.headers.get('content-type'), 'text/event-stream')
    const text = await reply.text()
    assert.ok(text.endsWith('data: [DONE]\n\n'))
    assert.ok(!text.includes('"usage":{'))
    assert.deepEqual(sentBody().stream_options, { include_usage: true })
    const [record] = await records()
    assert.deepEqual(record?.usage, { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 })
    assert.ok(record?.stream)
    assert.notEqual(record?.first_token_ms, null)
  })

  it('tells proxies to pass a stream on as it comes, whichever way it is answered', async () => {
    const [chat, response] = [double.sse(double.chunks(['Hi.'])), double.sse(double.responseEvents(['Hi.']), 'none')]
    const whole = double.json(200, double.completion('Hi.'))
    for (const [path, chats, responses] of [
      ['/v1/chat/completions', chat, response],
      ['/v1/chat/completions', whole, response],
      ['/v1/responses', chat, response],
      ['/v1/responses', chat, double.json(200, double.response('Hi.'))],
      ['/v1/responses', chat, double.fails(500)],
      ['/v1/responses', whole, double.fails(500)],
    ] as const) {
      server.on('/chat/completions', chats)
      server.on('/responses', responses)
      const { headers } = await post(path, { ...ASK, ...QUESTION, stream: true })
      assert.deepEqual(
        ['content-type', 'cache-control', 'x-accel-buffering'].map((name) => headers.get(name)),
        ['text/event-stream', 'no-cache', 'no'],
      )
      const one = await post(path, { ...ASK, ...QUESTION })
      assert.equal(one.headers.get('x-accel-buffering'), null)
    }
  })

  it('streams an answer that the upstream gives in one piece alone', async () => {
    const whole = double.json(200, double.completion('Hello.'))
    server.on('/chat/completions', double.fails(400, {}, 'stream'), whole)
    const reply = await post('/v1/chat/completions', { ...ASK, stream: true })
    assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, 'text/event-stream'])
    assert.ok((await reply.text()).endsWith('data: [DONE]\n\n'))
    assert.deepEqual([sentBody().stream, sentBody().stream_options], [undefined, undefined])
    await until(async () => (await records()).length === 1)
  })

  for (const end of ['break', 'hang', 'none'] as const)
    it(`ends a stream with an error chunk when the upstream's ends with ${end}`, async () => {
      server.on('/chat/completions', double.sse(double.chunks(['Hel', 'lo.']).slice(0, 3), end))
      const text = await (await post('/v1/chat/completions', { ...ASK, stream: true })).text()
      const events = eventsOf(text)
      assert.equal(events[1].choices[0].delta.content, 'Hel')
      assert.equal(events.at(-1).error.type, 'upstream_error')
      assert.equal(events.at(-1).error.code, end === 'hang' ? 'upstream_timeout' : 'upstream_bad_reply')
      if (end === 'break') assert.match(events.at(-1).error.message, /its stream was cut off before/)
      assert.ok(!text.includes('[DONE]'))
      await until(async () => (await records()).length === 1)
      const [record] = await records()
      assert.equal(record?.status, 'error')
      assert.equal(record?.usage?.estimated, true, 'what was generated is counted')
    })

  it('never writes an error into an unfinished event', async () => {
    server.on('/chat/completions', async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${JSON.stringify(double.chunks(['Hel'])[1])}\n\ndata: {"choices":[{"del`)
      await new Promise((resolve) => setTimeout(resolve, 30))
      response.socket?.destroy()
    })
    const text = await (await post('/v1/chat/completions', { ...ASK, stream: true })).text()
    assert.deepEqual(
      eventsOf(text).map((event) => Object.keys(event).includes('error')),
      [false, true],
    )
    await until(async () => (await records()).length === 1)
  })

  it('streams an answer that came whole', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }
    const answer = double.completion('Hello.')
    const second = {
      index: 1,
      message: { role: 'assistant', content: null, tool_calls: [call] },
      finish_reason: 'tool_calls',
    }
    server.on('/chat/completions', double.json(200, { ...answer, choices: [...answer.choices, second] }))
    for (const include_usage of [false, true]) {
      const reply = await post('/v1/chat/completions', { ...ASK, stream: true, stream_options: { include_usage } })
      assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, 'text/event-stream'])
      const text = await reply.text()
      assert.ok(text.endsWith('data: [DONE]\n\n'))
      const [said, ended, ...last] = eventsOf(text)
      assert.deepEqual([said.object, said.id, said.model], ['chat.completion.chunk', answer.id, answer.model])
      assert.deepEqual(
        said.choices.map(({ index, delta, finish_reason }: Record<string, unknown>) => [index, delta, finish_reason]),
        [
          [0, answer.choices[0]?.message, null],
          [1, { ...second.message, tool_calls: [{ ...call, index: 0 }] }, null],
        ],
      )
      assert.deepEqual(ended.choices, [
        { index: 0, delta: {}, finish_reason: 'stop' },
        { index: 1, delta: {}, finish_reason: 'tool_calls' },
      ])
      assert.deepEqual(
        last.map(({ choices, usage }) => [choices, usage]),
        include_usage ? [[[], answer.usage]] : [],
      )
    }
    await until(async () => (await records()).length === 2)
    for (const { status, stream, usage } of await records())
      assert.deepEqual([status, stream, usage?.total_tokens], ['ok', true, 15])
  })

  for (const [name, chunks] of Object.entries({
    reported: double.chunks(['Hel', 'lo.']),
    'not reported': UNFINISHED,
  }))
    it(`gathers a stream that was not asked for, its usage ${name}`, async () => {
      server.on('/chat/completions', double.sse(chunks))
      for (const headers of [{}, { 'idempotency-key': `gathered ${name}` }]) {
        const reply = await post('/v1/chat/completions', ASK, headers)
        assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, 'application/json'])
        const { usage, ...rest } = double.completion('Hello.')
        const reported = chunks === UNFINISHED ? {} : { usage }
        const { index, message, finish_reason } = rest.choices[0] ?? assert.fail()
        const { refusal: _, ...said } = message
        const answer = { ...rest, ...reported, choices: [{ index, message: said, finish_reason }] }
        assert.deepEqual(await reply.json(), answer)
      }
      await until(async () => (await records()).length === 2)
      for (const { status, stream, usage } of await records())
        assert.deepEqual([status, stream, usage?.estimated ?? false], ['ok', false, chunks === UNFINISHED])
    })

  for (const [name, behaviour, said] of [
    ['breaks off', double.sse(double.chunks(['Hel']).slice(0, 2), 'break'), /was cut off/],
    ['is cut', double.sse(double.chunks(['Hel']).slice(0, 2), 'none'), /ended before/],
    ['says nothing', double.sse([]), /ended before/],
    [
      'reports an error',
      double.sse([...double.chunks(['Hel']).slice(0, 2), { error: { message: 'busy' } }]),
      /reported an error: busy/,
    ],
  ] as const)
    it(`answers 502 where a stream that was not asked for ${name}, and keeps it for no one`, async () => {
      server.on('/chat/completions', behaviour)
      const key = { 'idempotency-key': name }
      for (const headers of [{}, key, key]) {
        const reply = await post('/v1/chat/completions', ASK, headers)
        assert.equal(reply.status, 502)
        assert.match(String((await errorOf(reply)).message), said)
      }
      assert.equal(server.received.length, 3)
      await until(async () => (await records()).length === 3)
      for (const { status, usage } of await records())
        assert.deepEqual([status, usage?.estimated], ['error', name === 'says nothing' ? undefined : true])
    })

  it('adds the [DONE] that a provider leaves out', async () => {
    server.on('/chat/completions', double.sse(double.chunks(['Hi.']), 'none'))
    const text = await (await post('/v1/chat/completions', { ...ASK, stream: true })).text()
    assert.ok(text.endsWith('data: [DONE]\n\n'))
  })

  it('reads events cut anywhere, with CRLF line ends too', async () => {
    const text = `${double
      .chunks(['Hé', '🙂'])
      .map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`)
      .join('')}data: [DONE]\r\n\r\n`
    server.on('/chat/completions', async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const bytes = Buffer.from(text)
      for (let at = 0; at < bytes.length; at += 37) {
        response.write(bytes.subarray(at, at + 37))
        await new Promise((resolve) => setImmediate(resolve))
      }
      response.end()
    })
    const passed = await (await post('/v1/chat/completions', { ...ASK, stream: true })).text()
    const usageChunk = text.indexOf('data: ', text.indexOf('"finish_reason":"stop"'))
    assert.equal(passed, `${text.slice(0, usageChunk)}data: [DONE]\r\n\r\n`)
    assert.equal((await records())[0]?.usage?.total_tokens, 15)
  })

  for (const [path, sent, last, tokens] of [
    ['/chat/completions', double.chunks(['Hello.']), '[DONE]', 15],
    ['/responses', double.responseEvents(['Hello.']), 'response.completed', 27],
  ] as const)
    it(`treats an answer on ${path} as complete after ${last}, and ignores the rest`, async () => {
      const events = sent.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
      const whole = path === '/responses' ? events : `${events}data: [DONE]\n\n`
      const ends: Record<string, (response: ServerResponse) => void> = {
        'the connection breaks': (response) => setTimeout(() => response.socket?.resetAndDestroy(), 50),
        silence: () => {},
        'the client leaves': () => {},
      }
      for (const [name, end] of Object.entries(ends)) {
        await running.gateway.store.db.deleteFrom('calls').execute()
        await running.gateway.store.db.deleteFrom('call_totals').execute()
        server.on(path, (response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' })
          response.write(whole)
          end(response)
        })
        const reply = await post(`/v1${path}`, { ...ASK, ...QUESTION, stream: true })
        let text = ''
        const decoder = new TextDecoder()
        for await (const piece of reply.body ?? []) {
          text += decoder.decode(piece, { stream: true })
          if (name === 'the client leaves' && text.includes(last)) break
        }
        assert.ok(!text.includes('"error"') || path === '/responses', text)
        assert.ok(!text.includes('event: error'), text)
        await until(async () => (await records()).length === 1)
        const [record] = await records()
        assert.deepEqual([name, record?.status, record?.usage?.total_tokens], [name, 'ok', tokens])
      }
    })

  for (const [path, sent] of [
    ['/chat/completions', [...double.chunks(['Hello.']), '[DONE]']],
    ['/responses', double.responseEvents(['Hello.'])],
    ['/responses', [...double.responseEvents(['Hello.']).slice(0, -1), { type: 'response.incomplete', response: {} }]],
    ['/responses', [...double.responseEvents(['Hello.']).slice(0, -1), { type: 'response.failed', response: {} }]],
  ] as const) {
    const last = sent.at(-1) as { type?: string } | string
    const ending = typeof last === 'string' ? last : last.type
    it(`ends a stream on ${path} at ${ending}, though its upstream leaves it open`, {
      timeout: 20_000,
    }, async (t) => {
      const patient = await startGateway(server.url)
      t.after(() => patient.close())
      const said = sent.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
      server.on(path, (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        for (const event of said) response.write(event)
      })
      const reply = await fetch(`${patient.url}/v1${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${patient.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...ASK, ...QUESTION, stream: true, stream_options: { include_usage: true } }),
      })
      assert.equal(await reply.text(), said.join(''))
      await server.received[0]?.aborted
    })
  }

  it('leaves the upstream a moment to end a stream after its [DONE]', async () => {
    server.on('/chat/completions', (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const chunk of double.chunks(['Hi.'])) response.write(`data: ${JSON.stringify(chunk)}\n\n`)
      response.write('data: [DONE]\n\n')
      setTimeout(() => response.end(), 50)
    })
    await (await post('/v1/chat/completions', { ...ASK, stream: true })).text()
    await assert.rejects(server.received[0]?.aborted ?? assert.fail(), /nobody aborted it/)
  })
})
