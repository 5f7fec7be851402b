import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { CallRecord } from '../../src/calls/call-record.ts'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'
import { samplesIn } from './scrape.ts'

const ASK = { messages: [{ role: 'user', content: 'Say hello.' }] }
const CHAT = '/v1/chat/completions'
/** Largest body of the fast lane. */
const MIB = 1024 * 1024

describe('requests as they are on the wire', () => {
  let server: double.UpstreamDouble
  let running: RunningGateway
  const open: Socket[] = []

  before(async () => {
    server = await double.startUpstream()
    running = await startGateway(
      server.url,
      {},
      { upstream: { timeout_ms: 2000 }, http: { max_model_body_bytes: 2 * MIB } },
    )
  })
  beforeEach(() => {
    server.received.length = 0
    server.on('/chat/completions', double.json(200, double.completion('Hello.')))
  })
  afterEach(() => {
    for (const socket of open.splice(0)) socket.destroy()
  })
  after(async () => {
    await running.close()
    await server.close()
  })

  function dial(): Socket {
    const socket = connect(Number(new URL(running.url).port), '127.0.0.1')
    open.push(socket)
    return socket
  }
  /** A request as bytes; `headers` are whole lines. */
  function asBytes(path: string, body: string, headers: string[] = [], start = `POST ${path} HTTP/1.1`): string {
    const length = headers.some((line) => /^(?:content-length|transfer-encoding)/i.test(line))
      ? []
      : [`Content-Length: ${Buffer.byteLength(body)}`]
    const lines = [start, 'Host: localhost', `Authorization: Bearer ${running.key}`, ...length, ...headers]
    if (!headers.some((line) => /^content-type/i.test(line))) lines.push('Content-Type: application/json')
    return `${lines.join('\r\n')}\r\n\r\n${body}`
  }
  /** Reads `count` replies with a Content-Length from a connection that stays open. */
  async function replies(socket: Socket, count: number) {
    const read: { status: number; head: string; body: string }[] = []
    let bytes = Buffer.alloc(0)
    while (read.length < count) {
      const end = bytes.indexOf('\r\n\r\n')
      const head = bytes.subarray(0, Math.max(end, 0)).toString('latin1')
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
      if (end === -1 || bytes.length < end + 4 + length) {
        const [chunk] = await once(socket, 'data', { signal: AbortSignal.timeout(30_000) })
        bytes = Buffer.concat([bytes, chunk])
        continue
      }
      const status = Number(head.split(' ')[1])
      read.push({ status, head, body: bytes.subarray(end + 4, end + 4 + length).toString() })
      bytes = bytes.subarray(end + 4 + length)
    }
    return read
  }
  const codeOf = (reply: { body: string } | undefined) => JSON.parse(reply?.body ?? '{}').error?.code
  const good = () => asBytes(CHAT, JSON.stringify(ASK))

  it('are answered in their order where they are pipelined, on both ways', async () => {
    const said = ['first', 'second', 'third', 'fourth']
    const answered: string[] = []
    server.on('/chat/completions', async (response, { body }) => {
      const { content } = (body as typeof ASK).messages[0] ?? assert.fail('no message')
      // The last is answered first.
      await until(async () => answered.length === said.length - 1 - said.indexOf(content))
      await double.json(200, double.completion(content))(response, server.received[0] as double.Received)
      answered.push(content)
    })
    const socket = dial()
    const asks = said.map((content) => JSON.stringify({ messages: [{ role: 'user', content }] }))
    socket.write(asks.map((body, n) => asBytes(n % 2 ? CHAT : `${CHAT}?n=${n}`, body)).join(''))
    const answers = await replies(socket, 4)
    assert.deepEqual(
      answers.map(({ body }) => JSON.parse(body).choices[0].message.content),
      said,
    )
  })

  it('are counted once each where they were pipelined and their client has gone', async () => {
    const inFlight = async () =>
      /^gazeway_http_requests_in_flight (.+)$/m.exec(await (await fetch(`${running.url}/metrics`)).text())?.[1]
    server.on(
      '/chat/completions',
      double.json(200, double.completion('Hello.')),
      double.sse(double.chunks(['Hel']).slice(0, 2), 'hang'),
    )
    const socket = dial()
    const ask = (body: string) =>
      `POST ${CHAT} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${running.key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    socket.write(ask(JSON.stringify(ASK)) + ask(JSON.stringify({ ...ASK, stream: true })))
    let read = ''
    socket.on('data', (bytes) => {
      read += bytes
    })
    await until(() => read.includes('"Hel"'))
    socket.resetAndDestroy()
    await server.received[1]?.aborted
    await until(async () => (await inFlight()) !== '2')
    assert.equal(await inFlight(), '1', 'the reader of the metrics')
  })

  it('leave nothing behind on a connection on which they are pipelined for long', async () => {
    let served: Socket | undefined
    const see = (started: unknown) => {
      served = (started as { socket: Socket }).socket
    }
    subscribe('http.server.request.start', see)
    const socket = dial()
    for (let round = 0; round < 20; round++) {
      socket.write(asBytes(CHAT, '{}').repeat(10))
      await replies(socket, 10)
    }
    unsubscribe('http.server.request.start', see)
    const left = served?.listenerCount('close') ?? Number.POSITIVE_INFINITY
    assert.ok(left < 20, `${left} listeners wait for the end of the connection`)
  })

  for (const [what, bytes, status, code] of [
    [
      'is of another type',
      () => asBytes(CHAT, 'x'.repeat(300_000), ['Content-Type: text/plain']),
      415,
      'unsupported_media_type',
    ],
    ['is too large', () => asBytes(CHAT, 'x'.repeat(2 * MIB + 1)), 413, 'payload_too_large'],
    ['has no key', () => asBytes(CHAT, 'x'.repeat(300_000)).replace(/gzw_\w+/, 'gzw_none'), 401, 'invalid_api_key'],
  ] as const)
    it(`keep their connection where the one before ${what} and was not read`, async () => {
      const socket = dial()
      socket.write(bytes() + good())
      const [refused, answered] = await replies(socket, 2)
      assert.deepEqual([refused?.status, codeOf(refused), answered?.status], [status, code, 200])
    })

  it('may have a body of exactly the limit, and not one byte more, with its length or in chunks', async () => {
    const ofLength = (length: number) => {
      const body = JSON.stringify({ ...ASK, pad: '' })
      return body.replace('"pad":""', `"pad":"${'x'.repeat(length - body.length)}"`)
    }
    for (const [length, status] of [
      [MIB, 200],
      [MIB + 1, 200],
      [2 * MIB, 200],
      [2 * MIB + 1, 413],
    ] as const) {
      const body = ofLength(length)
      const known = dial()
      known.write(asBytes(CHAT, body))
      assert.equal((await replies(known, 1))[0]?.status, status, `${length} bytes`)
      const chunked = dial()
      chunked.write(asBytes(CHAT, `${length.toString(16)}\r\n${body}\r\n0\r\n\r\n`, ['Transfer-Encoding: chunked']))
      assert.equal((await replies(chunked, 1))[0]?.status, status, `${length} bytes in chunks`)
    }
  })

  it('get 100 Continue when they expect it', async () => {
    const body = JSON.stringify(ASK)
    const socket = dial()
    socket.write(asBytes(CHAT, '', [`Content-Length: ${body.length}`, 'Expect: 100-continue']))
    const [first] = await once(socket, 'data', { signal: AbortSignal.timeout(30_000) })
    assert.match(String(first), /^HTTP\/1\.1 100 Continue\r\n\r\n$/)
    socket.write(body)
    assert.equal((await replies(socket, 1))[0]?.status, 200)
  })

  it('are answered as HTTP/1.0 knows it, whole and as a stream', async () => {
    const whole = dial()
    whole.write(asBytes(CHAT, JSON.stringify(ASK), [], `POST ${CHAT} HTTP/1.0`))
    assert.match(await text(whole), /^HTTP\/1\.1 200 [\s\S]*Hello\./)
    server.on('/chat/completions', double.sse(double.chunks(['Hel', 'lo.'])))
    const stream = dial()
    stream.write(asBytes(CHAT, JSON.stringify({ ...ASK, stream: true }), [], `POST ${CHAT} HTTP/1.0`))
    const read = await text(stream)
    assert.ok(!/transfer-encoding/i.test(read), read)
    assert.ok(read.endsWith('data: [DONE]\n\n'), read)
  })

  for (const [what, headers] of [
    ['two lengths', ['Content-Length: 3', 'Content-Length: 4']],
    ['a length and chunks', ['Content-Length: 3', 'Transfer-Encoding: chunked']],
    ['chunks under another name', ['Transfer-Encoding: xchunked']],
    ['chunks twice', ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity']],
    ['a length that is none', ['Content-Length: 3x']],
    ['a length below zero', ['Content-Length: -1']],
  ] as const)
    it(`are refused, and what follows them not read, where they have ${what}`, async () => {
      const socket = dial()
      socket.write(asBytes(CHAT, `{}\r\n${good()}`, [...headers]))
      const read = await text(socket)
      assert.match(read, /^HTTP\/1\.1 400 /)
      assert.equal(read.split('HTTP/1.1 ').length, 2, 'one reply')
      assert.equal(server.received.length, 0)
    })

  it('end when the client disconnects within the body, and nothing waits for it', async () => {
    const { key } = await running.gateway.keys.create({ name: 'not seen yet', scopes: ['inference'] })
    for (const of of [key, running.key])
      for (const path of [CHAT, `${CHAT}?way=router`, '/memory/store']) {
        const bytes = asBytes(path, '{"messages"', ['Content-Length: 500']).replace(running.key, of)
        const socket = dial()
        socket.write(bytes)
        socket.resetAndDestroy()
        const later = dial()
        later.write(bytes)
        setTimeout(() => later.destroy(), 5)
        await once(later, 'close')
      }
    await idle()
    assert.equal(server.received.length, 0)
  })

  it('say in their methods and paths what is meant', async () => {
    const ask = (path: string, method: string) =>
      fetch(running.url + path, {
        method,
        headers: { authorization: `Bearer ${running.key}`, 'content-type': 'application/json' },
        ...(method === 'POST' ? { body: JSON.stringify(ASK) } : {}),
      })
    for (const path of [CHAT, `${CHAT}/`, `${CHAT}?api-version=1`])
      assert.equal((await ask(path, 'POST')).status, 200, path)
    assert.equal((await ask('//v1/chat/completions', 'POST')).status, 404)
    for (const method of ['HEAD', 'OPTIONS', 'GET', 'DELETE', 'PUT', 'PATCH']) {
      const reply = await ask(CHAT, method)
      assert.deepEqual([reply.status, reply.headers.get('allow')], [405, 'POST'], method)
    }
  })

  it('pass however deep they nest, and are refused where that must be written again', async () => {
    const deep = `${'{"0":'.repeat(100_000)}1${'}'.repeat(100_000)}`
    const asked = '"messages":[{"role":"user","content":"x"}],"max_tokens":5'
    const replyTo = async (path: string, body: string) => {
      const socket = dial()
      socket.write(asBytes(path, body))
      return (await replies(socket, 1))[0]
    }
    for (const number of ['1', '12345678901234567890']) {
      const passed = await replyTo(CHAT, `{"model":"m",${asked},"seed":${number},"deep":${deep}}`)
      assert.equal(passed?.status, 200, number)
      const tools = `[{"name":"t","input_schema":${deep}}]`
      const refused = await replyTo('/v1/messages', `{"model":"m",${asked},"n":${number},"tools":${tools}}`)
      assert.deepEqual([refused?.status, /nested too deeply/.test(refused?.body ?? '')], [400, true], number)
    }
    assert.equal(server.received.length, 2)
  })

  it('get the headers that an upstream sends as far as HTTP can carry them', async () => {
    server.on('/chat/completions', async (response) => {
      const body = JSON.stringify(double.completion('Hello.'))
      response.socket?.end(
        Buffer.from(
          `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-ratelimit-note: ☃ é\r\nx-ratelimit-left: 1\r\n` +
            `content-length: ${body.length}\r\n\r\n${body}`,
        ),
      )
    })
    const socket = dial()
    socket.write(good())
    const [reply] = await replies(socket, 1)
    assert.equal(reply?.status, 200, reply?.body)
    assert.match(reply?.head ?? '', /x-ratelimit-left: 1/)
  })

  /** Waits until no request is being answered. */
  async function idle(): Promise<void> {
    await until(async () => {
      const metrics = await (await fetch(`${running.url}/metrics`)).text()
      // The one that asks is in flight itself.
      return /^gazeway_http_requests_in_flight 1$/m.test(metrics)
    })
  }
})

describe('a configuration that changes while streams go on', () => {
  it('leaves each request to the upstream that it began on, and is counted by what it is now', async (t) => {
    const [first, second] = [await double.startUpstream(), await double.startUpstream()]
    const running = await startGateway(null, {}, { upstream: { provider: first.url } })
    t.after(async () => {
      await running.close()
      await Promise.all([first.close(), second.close()])
    })
    let go: () => void = () => {}
    const [start, ...rest] = double.chunks(['from', ' the', ' first'])
    first.on(
      '/chat/completions',
      async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(`data: ${JSON.stringify(start)}\n\n`)
        await new Promise<void>((resolve) => {
          go = resolve
        })
        for (const chunk of rest) response.write(`data: ${JSON.stringify(chunk)}\n\n`)
        response.end('data: [DONE]\n\n')
      },
      double.json(404, { error: { message: 'It has been replaced.' } }),
    )
    second.on('/other/chat/completions', double.json(200, double.completion('from the second')))
    const ask = (more: object) =>
      fetch(running.url + CHAT, {
        method: 'POST',
        headers: { authorization: `Bearer ${running.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...ASK, ...more }),
      })
    const streamed = await ask({ stream: true })
    await running.gateway.config.set({
      'upstream.provider': second.url.replace('/v1', '/other'),
      'upstream.aliases.mine': 'theirs',
    })
    await until(async () => (await (await ask({ model: 'mine' })).text()).includes('from the second'))
    go()
    assert.match(await streamed.text(), /from[\s\S]*first[\s\S]*\[DONE\]/)
    await running.gateway.calls.flush()
    const metrics = await (await fetch(`${running.url}/metrics`)).text()
    const samples = samplesIn(metrics)
    const ended = samples.filter(({ name }) => name === 'gazeway_upstream_calls_total')
    assert.deepEqual(
      [...new Set(ended.map(({ labels }) => `${labels.path} ${labels.outcome}`))],
      ['/v1/chat/completions ok'],
    )
    assert.equal(
      ended.reduce((sum, { value }) => sum + value, 0),
      2,
    )
    assert.doesNotMatch(metrics, /\/other\//, 'the path of the configured address stays with the operator')
    assert.ok(
      samples.some(
        ({ name, labels, value }) =>
          name === 'gazeway_tokens_total' && labels.model === 'mine' && labels.kind === 'prompt' && value > 0,
      ),
    )
  })

  it('limits requests on both ways as soon as it says so, and no longer than that', async (t) => {
    const server = await double.startUpstream()
    server.on('/chat/completions', double.json(200, double.completion('Hello.')))
    const running = await startGateway(server.url)
    t.after(async () => {
      await running.close()
      await server.close()
    })
    const ask = async (path = CHAT) =>
      (
        await fetch(running.url + path, {
          method: 'POST',
          headers: { authorization: `Bearer ${running.key}`, 'content-type': 'application/json' },
          body: JSON.stringify(ASK),
        })
      ).status
    assert.equal(await ask(), 200)
    await running.gateway.config.set({ 'http.rate_limit.requests_per_minute': 2 })
    assert.deepEqual(
      [await ask(), await ask(`${CHAT}?way=router`), await ask(), await ask(`${CHAT}/`)],
      [200, 200, 429, 429],
    )
    await running.gateway.config.set({ 'http.rate_limit.requests_per_minute': null })
    assert.equal(await ask(), 200)
    const { items } = await running.gateway.keys.list({ limit: 10 })
    for (const { id } of items) await running.gateway.keys.revoke(id)
    assert.deepEqual([await ask(), await ask(`${CHAT}?way=router`)], [401, 401])
  })
})

describe('an upstream that fails now and then', () => {
  it('keeps its circuit closed while most of its answers are good, however many wait for it', async (t) => {
    const server = await double.startUpstream()
    const running = await startGateway(server.url)
    t.after(async () => {
      await running.close()
      await server.close()
    })
    const ask = async () =>
      (
        await fetch(running.url + CHAT, {
          method: 'POST',
          headers: { authorization: `Bearer ${running.key}`, 'content-type': 'application/json' },
          body: JSON.stringify(ASK),
        })
      ).status
    const waiting: (() => void)[] = []
    let asked = 0
    server.on('/chat/completions', async (response, received) => {
      const bad = asked++ % 3 === 0
      await new Promise<void>((resolve) => void waiting.push(resolve))
      await (bad ? double.fails(503) : double.json(200, double.completion('Hello.')))(response, received)
    })
    const all = Array.from({ length: 60 }, ask)
    await until(async () => waiting.length === 60)
    for (const answer of waiting) {
      answer()
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    assert.equal((await Promise.all(all)).filter((status) => status === 503).length, 20)
    server.on('/chat/completions', double.json(200, double.completion('Hello.')))
    assert.equal(await ask(), 200)
  })
})

describe('the end of the service', () => {
  it('lets pipelined replies out in their order', async () => {
    const server = await double.startUpstream()
    const running = await startGateway(server.url)
    let answer: () => void = () => {}
    server.on(
      '/chat/completions',
      async (response, received) => {
        await new Promise<void>((resolve) => {
          answer = resolve
        })
        await double.json(200, double.completion('slow'))(response, received)
      },
      double.json(200, double.completion('fast')),
    )
    const socket = connect(Number(new URL(running.url).port), '127.0.0.1')
    const body = JSON.stringify(ASK)
    socket.write(
      (
        `POST ${CHAT} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${running.key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
      ).repeat(2),
    )
    const read = text(socket)
    await until(() => server.received.length >= 2)
    // The gateway, in this process, has the second reply.
    for (let turn = 0; turn < 50; turn++) await setImmediate()
    const closed = running.close()
    answer()
    const got = await read
    assert.match(got, /slow[\s\S]*fast/)
    await closed
    await server.close()
  })

  it('is announced to all who still wait for an answer when their time is up', async (t) => {
    const server = await double.startUpstream()
    const running = await startGateway(server.url)
    t.after(() => server.close())
    const begun = double.sse(double.chunks(['Half an ']).slice(0, 2), 'hang')
    server.on('/chat/completions', (response, received) =>
      (received.body as { stream?: boolean }).stream ? begun(response, received) : double.hangs(response, received),
    )
    const events = double.responseEvents(['Half an '])
    server.on('/responses', double.sse(events.slice(0, 4), 'hang'), double.sse(events.slice(0, 2), 'hang'))
    const ended: CallRecord[] = []
    running.gateway.calls.listen((record) => ended.push(record))
    const ask = (path: string, more: object) =>
      fetch(running.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${running.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...ASK, input: 'Say hello.', ...more }),
      })
    const streams = [await ask(CHAT, { stream: true }), await ask('/v1/responses', { stream: true })]
    const readers = streams.map(({ body }) => body?.getReader() ?? assert.fail())
    await Promise.all(readers.map((reader) => reader.read()))
    const waiting = [ask(CHAT, {}), ask('/v1/responses', { stream: true }), ask('/v1/responses', {})]
    await until(async () => server.received.length === 5)

    t.mock.timers.enable({ apis: ['setTimeout'] })
    const closed = running.close()
    t.mock.timers.tick(30_000)
    t.mock.timers.reset()
    for (const reader of readers) {
      let text = ''
      for (let piece = await reader.read(); !piece.done; piece = await reader.read())
        text += Buffer.from(piece.value).toString()
      assert.match(text, /service_stopping/)
    }
    for (const reply of await Promise.all(waiting)) {
      assert.equal(reply.status, 503)
      assert.equal(((await reply.json()) as { error: { code: string } }).error.code, 'service_stopping')
    }
    await closed
    assert.equal(ended.length, 5, 'nothing falls back')
    for (const { status, error } of ended)
      assert.match(`${status}: ${error}`, /^error: Gazeway stopped before the answer was complete/)
  })

  // Half of what replies in progress get.
  it('does not wait for clients that disconnected during key lookup', { timeout: 15_000 }, async () => {
    const server = await double.startUpstream()
    const running = await startGateway(server.url)
    let went: () => void = () => {}
    const gone = new Promise<void>((resolve) => {
      went = resolve
    })
    let lookUp: () => void = () => {}
    const lookedUp = new Promise<void>((resolve) => {
      lookUp = resolve
    })
    let served: Socket | undefined
    const see = (started: unknown) => {
      served = (started as { socket: Socket }).socket
    }
    subscribe('http.server.request.start', see)
    const { authenticate } = running.gateway.keys
    running.gateway.keys.authenticate = async (token) => {
      lookUp()
      await gone
      return authenticate(token)
    }
    const { key } = await running.gateway.keys.create({ name: 'new', scopes: ['inference'] })
    const socket = connect(Number(new URL(running.url).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(
      `POST ${CHAT} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 900\r\n\r\n{',
    )
    await lookedUp
    unsubscribe('http.server.request.start', see)
    const left = new Promise((resolve) => (served ?? assert.fail('no request came')).once('close', resolve))
    socket.resetAndDestroy()
    await left
    went()
    await running.close()
    await server.close()
  })
})
