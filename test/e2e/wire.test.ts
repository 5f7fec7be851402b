import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { newPlace, spawnServer } from './server.ts'

const MEGABYTE = 1024 * 1024
const ping = (id: number | string) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"ping"}`

describe('the bare protocol', () => {
  const place = newPlace()
  let server: ReturnType<typeof spawnServer>
  beforeEach(() => {
    server = spawnServer(place, { args: ['--upstream', 'sandbox'] })
  })
  afterEach(async () => {
    server.send({ id: 'alive', method: 'ping' })
    assert.deepEqual((await server.answer('alive')).result, {}, 'the server lives on')
    server.child.stdin.end()
    assert.deepEqual(await server.exit, { code: 0, signal: null })
    server.assertProtocolOnly()
    assert.equal(server.stderr(), '', 'nothing but protocol anywhere')
  })
  const refusal = async (code: number) => (await server.message(({ error }) => error?.code === code)).error.message

  for (const [what, line] of Object.entries({
    words: 'hello',
    'half a message': '{"jsonrpc":"2.0","id":1,',
    'bytes that are no UTF-8': Buffer.from([0xff, 0xfe, 0x80, 0xc3, 0x28]),
    'a NUL': '\0',
    JSON5: "{jsonrpc:'2.0'}",
  }))
    it(`answers ${what} with a parse error`, async () => {
      server.write(line)
      server.write('\n')
      assert.match(await refusal(-32700), /not JSON/)
    })

  for (const line of ['{}', '5', '"text"', 'null', 'true', '{"jsonrpc":"1.0","id":1,"method":"ping"}', '{"id":{}}'])
    it(`answers ${line} with an invalid request`, async () => {
      server.write(`${line}\n`)
      assert.match(await refusal(-32600), /not a JSON-RPC 2\.0 message/)
    })

  it('answers an invalid request under its id where it has one, and says what a message needs', async () => {
    server.write('{"id":7,"method":5}\n')
    assert.equal((await server.answer(7)).error.code, -32600)
    server.send({ id: 8, method: 'ping', params: { _meta: { progressToken: null } } })
    assert.match(
      (await server.answer(8)).error.message,
      /progressToken must be a string or an integer, params an object/,
    )
  })

  it('answers the messages of a batch one by one, whatever each is', async () => {
    await server.initialize()
    server.write(`[${ping(1)},5,${ping(2)},{"jsonrpc":"2.0","id":3,"method":"no/such"},[${ping(4)}]]\n`)
    for (const id of [1, 2]) assert.deepEqual((await server.answer(id)).result, {})
    assert.equal((await server.answer(3)).error.code, -32601)
    server.send({ id: 'after', method: 'ping' })
    await server.answer('after')
    assert.deepEqual(
      server.messages.flatMap(({ id, error }) => (id === undefined ? [error.code] : [])),
      [-32600, -32600],
    )
  })

  for (const batch of [`[${Array.from({ length: 101 }, (_, id) => ping(id))}]`, '[]'])
    it(`answers the batch ${batch.slice(0, 12)} with one error and runs none of it`, async () => {
      server.write(`${batch}\n`)
      assert.match(await refusal(-32600), /one message on each line/)
      server.send({ id: 'after', method: 'ping' })
      await server.answer('after')
      assert.equal(server.messages.length, 2)
    })

  it('answers a line of 10 MB with an error', async () => {
    server.write(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"${'x'.repeat(10 * MEGABYTE)}"}}\n`)
    assert.match(await refusal(-32600), /at most 8388608 bytes/)
  })

  it('answers a line of 10 MB under its id, whichever end that is at', async () => {
    const long = `"params":{"id":9,"x":"${'x'.repeat(10 * MEGABYTE)}"}`
    server.write(`{"jsonrpc":"2.0","id":1,"method":"ping",${long}}\n`)
    server.write(`{"method":"ping",${long},"jsonrpc":"2.0","id":"two"}\r\n`)
    for (const id of [1, 'two']) assert.equal((await server.answer(id)).error.code, -32600)
    server.write(`{"jsonrpc":"2.0","id":1,"result":{"x":"${'x'.repeat(10 * MEGABYTE)}"}}\n`)
    server.send({ id: 'after', method: 'ping' })
    await server.answer('after')
    assert.deepEqual(
      server.messages.map(({ id }) => id),
      [1, 'two', undefined, 'after'],
    )
  })

  it('keeps no endless line in memory', async () => {
    for (let sent = 0; sent < 64; sent++) {
      server.write(Buffer.alloc(MEGABYTE, 'x'))
      if (server.child.stdin.writableNeedDrain)
        await new Promise((resolve) => server.child.stdin.once('drain', resolve))
    }
    server.write('\n')
    assert.match(await refusal(-32600), /at most/)
  })

  it('takes a long line that is within the limit', async () => {
    server.write(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"${'x'.repeat(7 * MEGABYTE)}"}}\n`)
    assert.deepEqual((await server.answer(1)).result, {})
  })

  it('puts a message together that comes in pieces, in the middle of a letter too', async () => {
    await server.initialize()
    const call = Buffer.from(
      `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'größer→日本', arguments: {} } })}\n`,
    )
    for (const byte of call) {
      server.write(Uint8Array.of(byte))
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.match((await server.answer(1)).error.message, /no tool größer→日本/)
  })

  it('reads several messages from one chunk, empty lines and \\r\\n between them', async () => {
    server.write(`${ping(1)}\n${ping(2)}\r\n\r\n\n  \n${ping(3)}\n`)
    for (const id of [1, 2, 3]) assert.deepEqual((await server.answer(id)).result, {})
    assert.equal(server.messages.length, 3)
  })

  it('answers no request before initialize, but a ping', async () => {
    server.send({ id: 1, method: 'tools/list' }, { id: 2, method: 'ping' }, { id: 3, method: 'no/such' })
    assert.match((await server.answer(1)).error.message, /Send initialize first/)
    assert.deepEqual((await server.answer(2)).result, {})
    assert.match((await server.answer(3)).error.message, /name the protocol version/)
    assert.ok(await server.initialize(), 'and is initialized all the same')
  })

  it('does not answer notifications and answers', async () => {
    server.send(
      { id: 99, result: {} },
      { method: 'notifications/nothing' },
      { id: 98, error: { code: 1, message: 'x' } },
    )
    server.send({ id: 1, method: 'ping' })
    await server.answer(1)
    assert.equal(server.messages.length, 1)
  })

  it('says which method there is not', async () => {
    await server.initialize()
    for (const method of ['no/such', '__proto__', 'toString']) {
      server.send({ id: method, method })
      assert.equal((await server.answer(method)).error.code, -32601)
    }
  })

  it('names the parameter that a method does not take', async () => {
    await server.initialize()
    const faults: [params: unknown, named: RegExp][] = [
      [{ name: 'gateway_memory_recall', arguments: 'key' }, /params\.arguments/],
      [{ name: 'gateway_memory_recall', arguments: ['key'] }, /params\.arguments/],
      [{ name: 5 }, /params\.name/],
      [{}, /params\.name/],
      [undefined, /params/],
    ]
    for (const [id, [params, named]] of faults.entries()) {
      server.send({ id, method: 'tools/call', params })
      const { error } = await server.answer(id)
      assert.equal(error.code, -32602)
      assert.match(error.message, named)
    }
  })

  it('takes null for no arguments', async () => {
    await server.initialize()
    server.callTool(1, 'gateway_upstream_api_history', null)
    assert.equal((await server.answer(1)).result.structuredContent.total, 0)
  })

  it('answers a request that asks for a task as any other', async () => {
    await server.initialize()
    const params = { name: 'gateway_memory_recall', arguments: { key: 'none' } }
    for (const [id, task] of [{ ttl: 60_000 }, {}].entries()) {
      server.send({ id, method: 'tools/call', params: { ...params, task } })
      assert.equal((await server.answer(id)).result.structuredContent.found, false)
    }
    server.send({ id: 'list', method: 'tools/list', params: { task: { ttl: 60_000 } } })
    assert.equal((await server.answer('list')).result.tools.length, 12)
  })

  // With numbers for names, which no Node writes at that depth; some write anything else.
  for (const value of [
    `${'[{"0":'.repeat(100_000)}1${'}]'.repeat(100_000)}`,
    `${'{"0":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
  ])
    it(`refuses what nests too deep: ${value.slice(0, 5)}…`, async () => {
      await server.initialize()
      const calls = {
        gateway_memory_store: `{"key":"deep","value":${value}}`,
        gateway_memory_recall: value,
        gateway_gateway: `{"method":"POST","path":"/embeddings","body":${value}}`,
        gateway_chat_completion: `{"messages":[{"role":"user","content":"x","deep":${value}}]}`,
      }
      for (const [name, args] of Object.entries(calls)) {
        const id = JSON.stringify(name)
        server.write(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":${id},"arguments":${args}}}\n`)
        const { result, error } = await server.answer(name)
        assert.ok(error ?? result.isError, 'refused')
        assert.ok(!JSON.stringify(result ?? error).includes('internal_error'), 'and not by accident')
      }
    })

  it('answers hundreds of requests that come at once', async () => {
    await server.initialize()
    server.send(...Array.from({ length: 300 }, (_, id) => ({ id, method: id % 2 ? 'ping' : 'tools/list' })))
    await Promise.all(Array.from({ length: 300 }, (_, id) => server.answer(id)))
    assert.equal(new Set(server.messages.map(({ id }) => id)).size, 301)
  })
})
