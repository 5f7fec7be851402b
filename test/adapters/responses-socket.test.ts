import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import type { Duplex } from 'node:stream'
import { after, describe, it, type TestContext } from 'node:test'
import OpenAI from 'openai'
import { ResponsesWS } from 'openai/resources/responses/ws'
import { type RawData, WebSocket } from 'ws'
import { createResponsesSocket } from '../../adapters/http/responses-socket/responses-socket.ts'
import type { OpenCalls } from '../../src/inference/inference.ts'
import type { Receiver } from '../../src/inference/relay/receiver.ts'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { openGateway } from './http-gateway.ts'
import { startPlatform } from './platform.ts'

const { server, running, records, sentBody } = await openGateway()
const address = `${running.url.replace('http', 'ws')}/v1/responses`
const calls = await running.gateway.upstream.openCalls()
const sockets = new Set<WebSocket>()
after(() => {
  for (const ws of sockets) ws.terminate()
  return calls.close()
})

type Message = { type: string; status?: number; error?: { code: string }; response?: { id: string; output: object[] } }

/** A client that reads messages one by one. */
async function connect({ key = running.key as string | null, url = address, headers = {} } = {}) {
  const ws = new WebSocket(url, { headers: { ...(key !== null && { authorization: `Bearer ${key}` }), ...headers } })
  sockets.add(ws)
  ws.on('error', () => {})
  const messages: Message[] = []
  ws.on('message', (data: RawData) => void messages.push(JSON.parse(String(data))))
  const status = await new Promise<number>((resolve) => {
    ws.once('open', () => resolve(101))
    ws.once('unexpected-response', (_, response) => resolve(response.statusCode ?? 0))
  })
  let read = 0
  return {
    ws,
    status,
    closed: new Promise<number>((resolve) => ws.once('close', resolve)),
    send: (body: object) => ws.send(JSON.stringify({ type: 'response.create', model: 'm', ...body })),
    /** The messages up to the next end of a response, or error. */
    async answer(): Promise<Message> {
      const isEnd = ({ type }: Message) => type === 'response.completed' || type === 'error'
      await until(() => messages.slice(read).some(isEnd))
      read += messages.slice(read).findIndex(isEnd) + 1
      return messages[read - 1] as Message
    },
  }
}

const overChat = () => {
  server.on('/responses', double.fails(500))
  server.on('/chat/completions', double.sse(double.chunks(['Hello.'])))
}
/** Last event of a response that nobody stores. */
const COMPLETED = {
  type: 'response.completed',
  sequence_number: 0,
  response: { id: 'resp_1', object: 'response', status: 'completed', store: false, output: [] },
}

/** A server without a socket yet, and what a socket needs. */
async function ownServer(t: TestContext) {
  const { gateway } = running
  const hosts = { allowedHosts: new Set(['127.0.0.1']), allowedOrigins: new Set<string>(), anyHost: false }
  const listening = createServer()
  listening.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  t.after(() => void listening.close())
  const url = `ws://127.0.0.1:${(listening.address() as { port: number }).port}/v1/responses`
  return { url, listening, deps: { calls, keys: gateway.keys, hosts, count() {}, refused() {} } }
}
const user = (content: string) => [{ type: 'message' as const, role: 'user' as const, content }]
const rolesSent = () => (sentBody().messages as { role: string; content: unknown }[]).map(({ role }) => role)

describe('the Responses API over WebSocket', () => {
  it("serves OpenAI's client turn by turn, over chat completions, and continues what nobody stored", async () => {
    overChat()
    const client = new ResponsesWS(new OpenAI({ baseURL: `${running.url}/v1`, apiKey: running.key }))
    const types: string[] = []
    let asked = 1
    client.send({ type: 'response.create', model: 'm', store: false, input: user('One') })
    for await (const event of client) {
      if (event.type === 'error') throw event.error
      if (event.type !== 'message') continue
      types.push(event.message.type)
      if (event.message.type !== 'response.completed') continue
      if (asked++ === 2) break
      const { id, output_text } = event.message.response as { id: string; output_text: string }
      assert.equal(output_text, 'Hello.')
      client.send({ type: 'response.create', model: 'm', store: false, previous_response_id: id, input: user('Two') })
    }
    client.close()
    assert.deepEqual(rolesSent(), ['user', 'assistant', 'user'])
    assert.equal(types.filter((type) => type === 'response.created').length, 2)
    assert.equal(types.filter((type) => type === 'response.output_text.delta').length, 2)
    await until(async () => (await records()).filter(({ path }) => path === '/v1/chat/completions').length === 2)
  })

  it('passes the events of a responses endpoint on, and sends it no reasoning that it cannot read', async () => {
    const response = (id: string, output: object[]) => ({
      id,
      object: 'response',
      status: 'completed',
      store: false,
      output,
    })
    const thought = { type: 'reasoning', id: 'rs_1', summary: [] }
    const said = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi.' }] }
    const ending = { type: 'response.completed', sequence_number: 1, response: response('resp_1', [thought, said]) }
    server.on(
      '/responses',
      double.sse([{ type: 'response.output_text.delta', sequence_number: 0, delta: 'Hi.' }, ending]),
    )
    const client = await connect()
    client.send({ store: false, input: 'One', generate: false })
    const warm = await client.answer()
    assert.deepEqual([warm.response?.output, server.received.length], [[], 0])
    client.send({ store: false, previous_response_id: warm.response?.id, input: user('Two') })
    assert.deepEqual(await client.answer(), ending)
    client.send({ store: false, previous_response_id: 'resp_1', input: user('Three') })
    await client.answer()
    const { input, type, stream, previous_response_id } = sentBody()
    assert.deepEqual([type, stream, previous_response_id], [undefined, true, undefined])
    assert.deepEqual(input, [...user('One'), ...user('Two'), said, ...user('Three')])
    client.send({ store: false, previous_response_id: 'resp_0', input: user('Four') })
    assert.deepEqual((await client.answer()).error?.code, 'previous_response_not_found')
    client.ws.close()
  })

  it('continues no input with a number that JavaScript cannot represent, but one beside such a tool', async () => {
    overChat()
    const client = await connect()
    const ask = async (fields: string) => {
      client.ws.send(`{"type":"response.create","model":"m","store":false,${fields}}`)
      return client.answer()
    }
    const tool = '{"type":"function","name":"f","parameters":{"type":"object","maximum":18446744073709551614}}'
    const call = '{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}'
    const exact = await ask(`"input":"One","tools":[${tool}]`)
    const next = await ask(`"input":"Two","previous_response_id":"${exact.response?.id}"`)
    assert.equal(next.type, 'response.completed')
    const output = '{"type":"function_call_output","call_id":"c","output":{"n":18446744073709551614}}'
    const lost = await ask(`"input":[${call},${output}]`)
    const refused = await ask(`"input":"Two","previous_response_id":"${lost.response?.id}"`)
    assert.equal(refused.error?.code, 'previous_response_not_found')
    client.ws.close()
  })

  it("is on the platform's port, too, for its keys alone, where its own gateway is behind /v1", async (t) => {
    overChat()
    const own = await startPlatform(server.url)
    t.after(own.close)
    const elsewhere = { agent_gateway: { url: server.url } }
    const other = await startPlatform(server.url, { document: elsewhere, withHttp: false })
    t.after(other.close)
    const at = (url: string) => `${url.replace('http', 'ws')}/v1/responses`
    const client = await connect({ url: at(own.url), key: own.key })
    client.send({ store: false, input: 'One' })
    assert.equal((await client.answer()).type, 'response.completed')
    const { items } = await own.gateway.calls.history({ limit: 10 })
    assert.deepEqual([...new Set(items.map(({ caller_id }) => caller_id))], [own.keyId])
    client.ws.close()
    const { key } = await own.gateway.keys.create({ name: 'gateway', scopes: ['inference'] })
    assert.equal((await connect({ url: at(own.url), key })).status, 403)
    assert.equal((await connect({ url: at(own.url), key: null })).status, 401)
    assert.equal((await connect({ url: at(other.url), key: other.key })).status, 404)
  })

  it('leaves what an address may hold out of the log: a key that a client puts there', async () => {
    const secret = 'gz_secret_in_an_address'
    assert.equal((await connect({ url: `${address}?key=${secret}`, key: null })).status, 401)
    const client = await connect({ url: `${address}?key=${secret}` })
    client.send({ store: false, input: 'One' })
    await client.answer()
    client.ws.close()
    for (const path of ['models', 'none', 'models/none', 'responses/resp_gzw_1'])
      await fetch(`${running.url}/v1/${path}?key=${secret}`, { headers: { authorization: `Bearer ${running.key}` } })
    assert.ok(running.logged.length > 0)
    assert.equal(
      running.logged.some((line) => line.includes(secret)),
      false,
    )
  })

  it('refuses an upgrade without a key, at another path, and from a foreign page', async () => {
    const refused = [
      [{ key: null }, 401],
      [{ url: address.replace('/v1/responses', '/v1/chat/completions') }, 404],
      [{ headers: { origin: 'https://elsewhere.example' } }, 403],
    ] as const
    for (const [how, status] of refused) assert.equal((await connect(how)).status, status)
    await until(async () => (await records()).some(({ error }) => error !== null))
  })

  it('answers what it cannot serve with an error that has a status, and goes on', async () => {
    server.on('/responses', double.fails(400))
    const client = await connect()
    client.ws.send('{')
    assert.equal((await client.answer()).status, 400)
    client.ws.send(JSON.stringify({ type: 'session.update' }))
    assert.equal((await client.answer()).status, 422)
    client.send({ input: 7 })
    assert.equal((await client.answer()).status, 422)
    server.on('/chat/completions', double.fails(400))
    client.send({ input: 'Hello' })
    assert.equal((await client.answer()).status, 400)
    overChat()
    const warned: string[] = []
    const note = ({ name }: Error) => void warned.push(name)
    process.on('warning', note)
    for (let i = 0; i < 12; i++) {
      client.send({ input: 'Hello' })
      assert.equal((await client.answer()).type, 'response.completed')
    }
    process.off('warning', note)
    assert.deepEqual(warned, [], 'no listeners pile up on the connection')
    client.ws.close()
  })

  it('makes one response at a time, and disconnects a client that floods it', async () => {
    server.on('/responses', (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const delta = { type: 'response.output_text.delta', sequence_number: 0, delta: '.' }
      const timer = setInterval(() => response.write(`data: ${JSON.stringify(delta)}\n\n`), 20)
      response.on('close', () => clearInterval(timer))
    })
    const client = await connect()
    client.send({ input: 'One' })
    await until(() => server.received.length === 1)
    client.send({ input: 'Two' })
    assert.equal((await client.answer()).error?.code, 'too_many_requests')
    for (let i = 0; i < 20; i++) client.send({ input: 'More' })
    assert.equal(await client.closed, 1008)
    await server.received[0]?.aborted
    assert.equal(server.received.length, 1)
  })

  it('disconnects a client that sends bytes, or more than a body may have', async () => {
    const { http } = running.gateway.loaded.config
    const binary = await connect()
    binary.ws.send(Buffer.from('{}'))
    assert.equal(await binary.closed, 1003)
    const large = await connect()
    large.ws.send(' '.repeat(http.max_model_body_bytes + 1))
    assert.equal(await large.closed, 1009)
  })

  it('leaves a client that does not read', async () => {
    const text = 'x'.repeat(64 * 1024)
    server.on('/responses', (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const more = () => {
        const event = { type: 'response.output_text.delta', sequence_number: 0, delta: text }
        while (!response.destroyed && response.write(`data: ${JSON.stringify(event)}\n\n`));
        response.once('drain', more)
      }
      more()
    })
    const client = await connect()
    client.ws.pause()
    client.send({ input: 'Hello' })
    await until(() => server.received.length === 1)
    await server.received[0]?.aborted
    client.ws.terminate()
  })

  it('closes connections that are idle, bounds those of a key, and asks for the key again', async (t) => {
    const { gateway } = running
    const { url, deps, listening } = await ownServer(t)
    const busy = createResponsesSocket(gateway, { ...deps, mostPerKey: 1 })
    const idle = createResponsesSocket(gateway, { ...deps, mostPerKey: 1, idleMs: 1 })
    listening.on('upgrade', (incoming, raw, head) => (incoming.headers.idle ? idle : busy).upgrade(incoming, raw, head))
    const { key, record } = await gateway.keys.create({ name: 'short', scopes: ['inference'] })
    assert.equal(await (await connect({ url, key, headers: { idle: '1' } })).closed, 1000)
    const client = await connect({ url, key })
    assert.equal((await connect({ url, key })).status, 429)
    await gateway.keys.revoke(record.id)
    client.send({ input: 'Hello' })
    assert.equal((await client.answer()).status, 401)
    busy.stop()
    assert.equal(await client.closed, 1001)
  })

  it('sends large numbers on as they are, also with an earlier response, and refuses what is too deep', async () => {
    const limits = '{"type":"function","name":"f","parameters":{"maximum":18446744073709551615}}'
    const written = (fields: string) => `{"type":"response.create","store":false,"tools":[${limits}],${fields}}`
    server.on('/responses', double.sse([COMPLETED]))
    const client = await connect()
    for (const fields of ['"input":"One"', '"input":"Two","previous_response_id":"resp_1"']) {
      client.ws.send(written(fields))
      assert.deepEqual(await client.answer(), COMPLETED)
      assert.ok(server.received.at(-1)?.text.includes(limits))
    }
    assert.equal((sentBody().input as object[]).length, 2)
    client.ws.send(written(`"generate":false,"metadata":${'['.repeat(20_000)}${']'.repeat(20_000)}`))
    assert.equal((await client.answer()).status, 400)
    client.ws.close()
  })

  it('counts each request of a key, and leaves a client that asks for more without reading', async (t) => {
    const { url, deps, listening } = await ownServer(t)
    let counted = 0
    const socket = createResponsesSocket(running.gateway, { ...deps, count: () => void counted++ })
    const raws: Duplex[] = []
    listening.on('upgrade', (incoming, raw, head) => {
      raws.push(raw)
      socket.upgrade(incoming, raw, head)
    })
    const client = await connect({ url })
    client.ws.send('x')
    await client.answer()
    client.send({ generate: false })
    await client.answer()
    assert.equal(counted, 3, 'the connection, and both messages')
    client.ws.pause()
    client.send({ generate: false, instructions: 'x'.repeat(10_000_000) })
    await until(() => {
      client.ws.send('x')
      return raws[0]?.destroyed
    })
    client.ws.terminate()
  })

  it('counts a message that waits, and gives everything back once the connection has closed', async (t) => {
    const { gateway } = running
    const { url, deps, listening } = await ownServer(t)
    const held = new Map<object, number>()
    const total = () => [...held.values()].reduce((sum, bytes) => sum + bytes, 0)
    const buffered: typeof gateway.buffered = {
      requireRoom() {},
      take: ({ request }, bytes) => void held.set(request, (held.get(request) ?? 0) + bytes),
      release: (request) => void held.delete(request),
    }
    const ending = `data: ${JSON.stringify(COMPLETED)}\n\n`
    const ends = new EventEmitter()
    const closed = once(ends, 'closed')
    let asked = 0
    // Records each response only after the connection has closed, and sends the second one only then.
    const call = async (_: unknown, receiver: Receiver) => {
      if (++asked === 1) receiver.end(ending)
      await closed
      receiver.end(ending)
    }
    const recorded = { current: () => ({ call }) } as unknown as OpenCalls
    const socket = createResponsesSocket(Object.create(gateway, { buffered: { value: buffered } }), {
      ...deps,
      calls: recorded,
    })
    listening.on('upgrade', (incoming, raw, head) => {
      raw.once('close', () => setImmediate(() => ends.emit('closed')))
      socket.upgrade(incoming, raw, head)
    })
    const waits = await connect({ url })
    const late = await connect({ url })
    waits.send({ store: false, input: 'One' })
    await waits.answer()
    waits.send({ store: false, input: 'x'.repeat(100_000) })
    await until(() => total() > 100_000)
    late.send({ store: false, input: 'One' })
    await until(() => asked === 2)
    late.ws.terminate()
    waits.ws.terminate()
    await until(() => held.size === 0)
    assert.equal(asked, 2)
  })
})
