import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PassThrough, Writable } from 'node:stream'
import { describe, it } from 'node:test'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import fc from 'fast-check'
import { stdioTransport } from '../../adapters/stdio/transport.ts'
import { lazily } from '../../src/lazily.ts'

const initialize = { jsonrpc: '2.0', id: 'init', method: 'initialize' } as const
const ask = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/list' }) as const
const line = (message: unknown) => `${JSON.stringify(message)}\n`

/** A transport on streams, with what it has read and written. */
async function open(output: Writable = new PassThrough()) {
  const input = new PassThrough()
  const received: JSONRPCMessage[] = []
  const transport = stdioTransport(input, output)
  transport.onmessage = (message) => void received.push(message)
  const closed = new Promise<void>((resolve) => {
    transport.onclose = resolve
  })
  await transport.start()
  /** Writes and waits until it was read. */
  async function feed(...chunks: (string | Uint8Array)[]) {
    for (const chunk of chunks) {
      const taken = once(input, 'data')
      input.write(chunk)
      await taken
    }
  }
  const texts: string[] = []
  if (output instanceof PassThrough) output.on('data', (chunk) => void texts.push(String(chunk)))
  const written = () =>
    texts
      .splice(0)
      .join('')
      .split('\n')
      .filter(Boolean)
      .map((text) => JSON.parse(text))
  return { transport, input, received, closed, feed, written }
}

describe('the stdio transport', () => {
  it('reads the same messages however the bytes are cut', async () => {
    const messages = [initialize, { ...ask(1), params: { text: 'größer → 日本 🙂' } }, ask(2), ask(3)]
    const bytes = Buffer.from(messages.map(line).join(''))
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 20 }),
        async (cuts) => {
          const { feed, received } = await open()
          const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length]
          await feed(...edges.slice(1).map((end, at) => bytes.subarray(edges[at], end)))
          assert.deepEqual(received, messages)
        },
      ),
      { numRuns: 50 },
    )
  })

  it('answers whatever else comes with an error, and reads on', async () => {
    const noise = fc.uint8Array({ maxLength: 200 }).map((bytes) => bytes.map((byte) => (byte === 0x0a ? 0x20 : byte)))
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            noise,
            fc.json().map((text) => Buffer.from(text)),
          ),
          { maxLength: 10 },
        ),
        async (lines) => {
          const { feed, received, written } = await open()
          for (const bytes of lines) await feed(Buffer.concat([bytes, Buffer.from('\n')]))
          await feed(line(initialize))
          assert.deepEqual(received.at(-1), initialize)
          for (const message of written()) assert.equal(message.jsonrpc, '2.0')
        },
      ),
      { numRuns: 100 },
    )
  })

  const claim = (method: string, id: number, version: unknown = '2026-07-28') => ({
    jsonrpc: '2.0',
    id,
    method,
    params: {
      _meta: {
        'io.modelcontextprotocol/protocolVersion': version,
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  })
  const codes = (answers: { id: unknown; error?: { code: number } }[]) =>
    answers.map(({ id, error }) => [id, error?.code])

  it('answers a response that is none without its id, which is not one of the client', async () => {
    const { feed, written } = await open()
    for (const broken of [{ error: {} }, { result: 3 }, { error: null }])
      await feed(line({ jsonrpc: '2.0', id: 7, ...broken }))
    assert.deepEqual(
      written().map(({ id, error }) => [id, error.code]),
      Array.from({ length: 3 }, () => [undefined, -32600]),
    )
    await feed(line({ jsonrpc: '2.0', id: 7 }))
    assert.equal(written()[0].id, 7)
  })

  it('passes nothing on that opens no connection, and answers a ping', async () => {
    const { feed, received, written } = await open()
    const note = { jsonrpc: '2.0', method: 'notifications/initialized' }
    const answer = { jsonrpc: '2.0', id: 9, result: {} }
    const bare = (id: number, method: string) => ({ jsonrpc: '2.0', id, method })
    await feed(...[note, bare(1, 'tools/list'), bare(2, 'server/discover'), bare(3, 'ping')].map(line))
    assert.deepEqual(codes(written()), [
      [1, -32600],
      [2, -32600],
      [3, undefined],
    ])
    assert.deepEqual(received, [])
    await feed(line(answer), line(claim('server/discover', 4)), line(initialize), line(ask(5)))
    assert.deepEqual(received.slice(1), [claim('server/discover', 4), initialize, ask(5)], 'a probe decides nothing')
  })

  it('names the versions that are spoken to a request of another, at any time', async () => {
    const { feed, received, written } = await open()
    await feed(line(claim('server/discover', 1, '2031-01-01')), line(claim('tools/list', 2, '2025-11-25')))
    await feed(line(claim('tools/list', 3)), line(claim('tools/list', 4, '2031-01-01')))
    const answers = written()
    assert.deepEqual(codes(answers), [
      [1, -32022],
      [2, -32022],
      [4, -32022],
    ])
    assert.deepEqual(answers[0].error.data, { supported: ['2026-07-28'], requested: '2031-01-01' })
    assert.deepEqual(received, [claim('tools/list', 3)])
  })

  it('is initialized once, and takes no request of the other era then', async () => {
    const { transport, feed, received, written } = await open()
    await feed(line(initialize), line({ ...initialize, id: 'again' }), line(claim('tools/list', 1)))
    assert.deepEqual(codes(written()), [
      ['again', -32600],
      [1, -32600],
    ])
    assert.deepEqual(received, [initialize])
    await transport.send({ jsonrpc: '2.0', id: 'init', error: { code: -32602, message: 'params' } })
    await feed(line(ask(2)), line({ ...initialize, id: 'better' }), line(ask(3)))
    assert.deepEqual(received.slice(1), [{ ...initialize, id: 'better' }, ask(3)], 'a failed one may be sent again')
  })

  it('drops arguments that are null, and nothing else', async () => {
    const { feed, received } = await open()
    const call = (args: unknown) => ({ ...ask(1), method: 'tools/call', params: { name: 'x', arguments: args } })
    await feed(line(initialize), line(call(null)), line(call({ a: null })))
    assert.deepEqual(received.slice(1), [{ ...call(null), params: { name: 'x' } }, call({ a: null })])
  })

  it('closes at the end of input when nothing waits for an answer', async () => {
    const { input, closed } = await open()
    input.end()
    await closed
  })

  it('closes at the end of input once all is answered', async () => {
    const { transport, input, closed, feed, written } = await open()
    await feed(line(initialize), line(ask(1)))
    input.end()
    await once(input, 'end')
    let ended = false
    void closed.then(() => {
      ended = true
    })
    for (const id of ['init', 1]) {
      assert.equal(ended, false)
      await transport.send({ jsonrpc: '2.0', id, result: {} })
    }
    await closed
    assert.deepEqual(
      written().map(({ id }) => id),
      ['init', 1],
    )
  })

  it('waits for no answer to what was cancelled', async () => {
    const { input, closed, feed } = await open()
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'init' } }
    await feed(line(initialize), line(cancel))
    input.end()
    await closed
  })

  it('waits some seconds for each answer after the end of input, and no more than eight for all', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const { transport, input, closed, feed, written } = await open()
    await feed(line(initialize), line(ask(1)), line(ask(2)))
    input.end()
    await once(input, 'end')
    for (const id of ['init', 1]) {
      t.mock.timers.tick(3000)
      await transport.send({ jsonrpc: '2.0', id, result: {} })
    }
    t.mock.timers.tick(2000)
    await closed
    await transport.send({ jsonrpc: '2.0', id: 2, result: {} })
    assert.deepEqual(
      written().map(({ id }) => id),
      ['init', 1],
    )
  })

  it('closes some time after the end of input, and names what has no answer', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const { transport, input, feed } = await open()
    const call = { ...ask(2), method: 'tools/call', params: { name: 'gateway_memory_store' } }
    await feed(line(initialize), line(ask(1)), line(call))
    await transport.send({ jsonrpc: '2.0', id: 'init', result: {} })
    input.end()
    await once(input, 'end')
    t.mock.timers.tick(5000)
    assert.deepEqual(await transport.closed, ['tools/list', 'gateway_memory_store'])
  })

  it('counts no time after the end of input while code is loaded, but for some that takes too long', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    let finish: () => void = () => {}
    const loading = lazily(() => new Promise<void>((resolve) => (finish = resolve)))()
    const { input, closed, feed } = await open()
    await feed(line(initialize))
    input.end()
    await once(input, 'end')
    let ended = false
    void closed.then(() => {
      ended = true
    })
    t.mock.timers.tick(15_000)
    await new Promise(setImmediate)
    assert.equal(ended, false)
    t.mock.timers.tick(10_000)
    await closed
    finish()
    await loading
  })

  it('takes the last line without its newline', async () => {
    const { input, received, closed } = await open()
    input.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: {} }))
    await closed
    assert.equal(received.length, 1)
  })

  it('closes when either end breaks', async () => {
    const broken = await open()
    broken.input.destroy(new Error('EIO'))
    await broken.closed
    const deaf = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) })
    const { transport, closed } = await open(deaf)
    await transport.send({ jsonrpc: '2.0', id: 1, result: {} })
    await closed
    await transport.send({ jsonrpc: '2.0', id: 2, result: {} })
  })

  it('writes whole characters, in names and texts, whatever half of one they hold', async () => {
    const texts = fc
      .array(fc.constantFrom('\ud83d', '\udc4b', '\\', 'ud83d', '"', '\n', 'a'))
      .map((pieces) => pieces.join(''))
    await fc.assert(
      fc.asyncProperty(texts, texts, async (name, text) => {
        const { transport, written } = await open()
        await transport.send({ jsonrpc: '2.0', id: 1, result: { [`x${name}`]: text } })
        assert.deepEqual(written()[0].result, { [`x${name.toWellFormed()}`]: text.toWellFormed() })
      }),
    )
  })

  it('waits for a reader that is slow', async () => {
    const output = new PassThrough({ highWaterMark: 1 })
    const { transport } = await open(output)
    const sends = Array.from({ length: 50 }, (_, id) => transport.send({ jsonrpc: '2.0', id, result: {} }))
    output.resume()
    await Promise.all(sends)
    assert.equal(output.listenerCount('drain') <= 1, true, 'it adds no listener for each message')
  })
})
