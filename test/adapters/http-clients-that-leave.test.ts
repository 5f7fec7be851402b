import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { ASK, openGateway } from './http-gateway.ts'

const { server, running, post, records, inFlight } = await openGateway()

describe('clients that leave, or read slowly', () => {
  it('ends a stream that was not asked for when its client goes', async () => {
    server.on('/chat/completions', double.sse(double.chunks(['Hel']).slice(0, 2), 'hang'))
    const client = new AbortController()
    const reply = post('/v1/chat/completions', ASK, {}, client.signal).catch(() => {})
    await until(async () => server.received.length === 1)
    // The gateway, in this process, reads what has come so far.
    for (let turn = 0; turn < 50; turn++) await setImmediate()
    client.abort()
    await server.received[0]?.aborted
    await reply
    await until(async () => (await records()).length === 1)
    const [record] = await records()
    assert.deepEqual([record?.status, record?.usage?.estimated], ['aborted', true])
  })

  it('aborts the upstream when the client goes, waiting or streaming, and records it', async () => {
    for (const [stream, behaviour] of [
      [false, double.hangs],
      [true, double.sse(double.chunks(['Hel']).slice(0, 2), 'hang')],
    ] as const) {
      server.received.length = 0
      server.on('/chat/completions', behaviour)
      const client = new AbortController()
      const reply = post('/v1/chat/completions', { ...ASK, stream }, {}, client.signal)
      if (stream) await (await reply).body?.getReader().read()
      else await until(async () => server.received.length === 1)
      client.abort()
      await reply.catch(() => {})
      await server.received[0]?.aborted
    }
    await until(async () => (await records()).length === 2)
    const [streamed, waited] = await records()
    assert.deepEqual([waited?.status, waited?.usage], ['aborted', null])
    assert.deepEqual([streamed?.status, streamed?.usage?.estimated], ['aborted', true])
  })

  it('aborts an upstream whose stream has no end after 100,000 events, converted or not', async () => {
    const [begun, text] = double.chunks(['a'])
    const call = (args: string) => ({
      ...(text as object),
      choices: [
        {
          index: 0,
          delta: { tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'look', arguments: args } }] },
        },
      ],
    })
    for (const [path, events] of [
      ['/v1/messages', [text]],
      ['/v1/chat/completions', [call('{"text":"'), call('a')]],
    ] as const) {
      server.received.length = 0
      const [first, last] = [events[0], events.at(-1)].map((event) => `data: ${JSON.stringify(event)}\n\n`)
      const packet = (last as string).repeat(1000)
      server.on('/chat/completions', (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(`data: ${JSON.stringify(begun)}\n\n${first}`)
        const send = (): void => {
          if (response.write(packet)) setImmediate(send)
        }
        response.on('drain', send)
        send()
      })
      const client = new AbortController()
      const reply = await post(path, { ...ASK, max_tokens: 9, stream: true }, {}, client.signal)
      let seen = 0
      for await (const bytes of reply.body ?? []) {
        seen += Buffer.from(bytes).toString('latin1').split('data:').length - 1
        if (seen >= 100_000) break
      }
      client.abort()
      await server.received[0]?.aborted
    }
    await until(async () => (await records()).length === 2)
    for (const { status, usage } of await records()) assert.deepEqual([status, usage?.estimated], ['aborted', true])
  })

  it('aborts every one of the requests that a client had pipelined', async () => {
    server.on('/chat/completions', double.hangs)
    const socket = connect(Number(new URL(running.url).port), '127.0.0.1')
    const body = JSON.stringify(ASK)
    const one =
      `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${running.key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    socket.write(one.repeat(3))
    await until(async () => server.received.length === 3)
    socket.destroy()
    await Promise.all(server.received.map((entry) => entry.aborted))
    await until(async () => (await records()).length === 3)
    assert.deepEqual(new Set((await records()).map((record) => record.status)), new Set(['aborted']))
    // Each of them has ended once: what is in flight is the question.
    assert.equal(await inFlight(), '1')
  })

  it('ends the connection of a client that leaves its whole reply unread', async () => {
    server.on('/chat/completions', double.json(200, double.completion('x'.repeat(20_000_000))))
    const body = JSON.stringify(ASK)
    const socket = connect(Number(new URL(running.url).port), '127.0.0.1')
    socket.pause()
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${running.key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    await until(async () => (await records()).length === 1)
    await until(async () => (await inFlight()) === '1')
    socket.destroy()
  })

  it('holds the upstream back for a client that does not read', async () => {
    let written = 0
    server.on('/chat/completions', async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const event = `data: ${JSON.stringify(double.chunks(['x'.repeat(60_000)], null)[1])}\n\n`
      while (written < 200_000_000 && !response.destroyed) {
        written += event.length
        if (response.write(event)) continue
        const more = await Promise.race([
          new Promise((resolve) => response.once('drain', () => resolve(true))),
          new Promise((resolve) => setTimeout(() => resolve(false), 300)),
        ])
        if (!more) break
      }
    })
    const socket = connect(Number(new URL(running.url).port), '127.0.0.1')
    const body = JSON.stringify({ ...ASK, stream: true })
    socket.pause()
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${running.key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    await until(async () => (await records()).length === 1)
    assert.ok(written < 50_000_000, `${written} bytes were taken from the upstream`)
    const [record] = await records()
    assert.equal(record?.status, 'aborted', 'a reader that stalls for too long counts as gone')
    socket.destroy()
  })
})
