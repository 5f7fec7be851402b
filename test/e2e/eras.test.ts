import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import * as double from '../doubles/upstream.ts'
import { connect, newPlace } from './server.ts'
import { connectStateless, envelope, STATELESS, spawnStateless } from './stateless.ts'

const SANDBOX = { args: ['--upstream', 'sandbox'] }
const SERVER_INFO = 'io.modelcontextprotocol/serverInfo'
const LEVEL = 'io.modelcontextprotocol/logLevel'

describe('the revision without initialize', () => {
  it('is discovered, with what the server can do and for how long that holds', async () => {
    const server = spawnStateless(newPlace(), SANDBOX)
    const { result } = await server.ask(1, 'server/discover')
    assert.deepEqual(result.supportedVersions, [STATELESS])
    assert.deepEqual(Object.keys(result.capabilities).sort(), [
      'completions',
      'extensions',
      'prompts',
      'resources',
      'tools',
    ])
    assert.match(result.instructions, /gateway_get_context/)
    assert.equal(result._meta[SERVER_INFO].name, 'gazeway')
  })

  it('names the kind of each result, its server, and how long a list may be kept', async () => {
    const server = spawnStateless(newPlace(), SANDBOX)
    for (const [method, kept] of [
      ['tools/list', true],
      ['prompts/list', true],
      ['resources/templates/list', true],
      ['resources/list', false],
    ] as const) {
      const { result } = await server.ask(method, method)
      assert.equal(result.resultType, 'complete', method)
      assert.equal(result.cacheScope, 'private', method)
      assert.equal(result.ttlMs > 0, kept, method)
      assert.equal(result._meta[SERVER_INFO].name, 'gazeway', method)
    }
    const call = await server.ask('call', 'tools/call', { name: 'gateway_memory_recall', arguments: { key: 'a' } })
    assert.equal(call.result.resultType, 'complete')
    assert.equal(call.result.structuredContent.found, false)
  })

  it('refuses what it does not know: a version, a method, a resource, an envelope with a part missing', async () => {
    const server = spawnStateless(newPlace(), SANDBOX)
    const later = await server.ask(1, 'tools/list', {}, envelope({}, {}, '2031-01-01'))
    assert.deepEqual(
      [later.error.code, later.error.data],
      [-32022, { supported: [STATELESS], requested: '2031-01-01' }],
    )
    assert.equal((await server.ask(2, 'resources/read', { uri: 'memory://default/none' })).error.code, -32602)
    const between = await server.ask(3, 'tools/list', {}, envelope({}, {}, '2025-11-25'))
    assert.equal(between.error.code, -32022, 'in the middle of a connection, too')
    assert.equal((await server.ask(4, 'no/such')).error.code, -32601)
    const { error } = await server.ask(5, 'tools/list', {}, { 'io.modelcontextprotocol/protocolVersion': STATELESS })
    assert.equal(error.code, -32602)
    assert.match(error.message, /envelope/)
  })

  it('keeps to its era: a request of the other is refused, whichever came first', async () => {
    const stateless = spawnStateless(newPlace(), SANDBOX)
    await stateless.ask(1, 'tools/list')
    stateless.send({ id: 2, method: 'tools/list' })
    assert.match((await stateless.answer(2)).error.message, /envelope/)
    stateless.send({ id: 3, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } })
    assert.deepEqual((await stateless.answer(3)).error.data.supported, [STATELESS])
    const initialized = spawnStateless(newPlace(), SANDBOX)
    await initialized.initialize()
    assert.match((await initialized.ask(1, 'tools/list')).error.message, /opened with initialize/)
    initialized.send({ id: 2, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } })
    assert.match((await initialized.answer(2)).error.message, /initialize was sent before/)
    initialized.send({ id: 3, method: 'tools/list' })
    assert.equal((await initialized.answer(3)).result.tools.length, 12, 'and goes on')
  })

  it('may be discovered before initialize', async () => {
    const server = spawnStateless(newPlace(), SANDBOX)
    await server.ask(1, 'server/discover')
    assert.equal((await server.initialize()).serverInfo.name, 'gazeway')
    server.callTool(2, 'gateway_memory_recall', { key: 'a' })
    const { result } = await server.answer(2)
    assert.equal(result.structuredContent.found, false)
    assert.equal(result.resultType, undefined, 'in the form of the era that was chosen')
  })

  it('asks for the roots of a client that has some by the answer to the call that needs them', async () => {
    const place = newPlace()
    const server = spawnStateless(place, SANDBOX)
    const meta = envelope({}, { roots: {} })
    const call = (name: string, input: object) => ({ name, arguments: input })
    const recalled = await server.ask(1, 'tools/call', call('gateway_memory_recall', { key: 'a', project: null }), meta)
    assert.equal(recalled.result.resultType, 'complete', 'no tool asks that needs none')
    const asked = await server.ask(2, 'tools/call', call('gateway_get_context', {}), meta)
    assert.equal(asked.result.resultType, 'input_required')
    assert.deepEqual(asked.result.inputRequests, { roots: { method: 'roots/list' } })
    const inputResponses = { roots: { roots: [{ uri: 'vscode-remote://x' }, { uri: pathToFileURL(place.home).href }] } }
    const again = await server.ask(3, 'tools/call', { ...call('gateway_get_context', {}), inputResponses }, meta)
    assert.equal(again.result.structuredContent.root, place.home)
    const without = await server.ask(4, 'tools/call', call('gateway_get_context', {}))
    assert.equal(without.result.structuredContent.root, place.project, 'a client without roots is not asked')
    assert.ok(!server.messages.some(({ method }) => method === 'roots/list'), 'no request goes to the client')
    assert.equal(server.stderr(), '')
  })

  it('writes its log to stderr alone, also for a request that asks for log messages', async () => {
    // The first call opens the gateway, which warns of the exporter's protocol.
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }
    const call = { name: 'gateway_memory_recall', arguments: { key: 'a' } }
    const stateless = spawnStateless(newPlace(), { ...SANDBOX, env })
    await stateless.ask(1, 'tools/call', call, envelope({ [LEVEL]: 'debug' }))
    const initialized = spawnStateless(newPlace(), { ...SANDBOX, env })
    assert.equal((await initialized.initialize()).capabilities.logging, undefined)
    initialized.send({ id: 1, method: 'logging/setLevel', params: { level: 'debug' } })
    assert.equal((await initialized.answer(1)).error.code, -32601)
    initialized.send({ id: 2, method: 'tools/call', params: call })
    await initialized.answer(2)
    for (const { stderr, messages } of [stateless, initialized]) {
      assert.match(stderr(), /not gRPC/)
      assert.ok(!messages.some(({ method }) => method === 'notifications/message'))
    }
  })

  it('reports progress and stops a cancelled call', async (t) => {
    const upstream = await double.startUpstream()
    t.after(() => upstream.close())
    upstream.on('/chat/completions', double.sse(double.chunks(['One, ', 'two']).slice(0, 2), 'hang'))
    const server = spawnStateless(newPlace(), { env: { GAZEWAY_UPSTREAM: upstream.url } })
    const call = { name: 'gateway_chat_completion', arguments: { messages: [{ role: 'user', content: 'Count.' }] } }
    server.send({ id: 1, method: 'tools/call', params: { ...call, _meta: envelope({ progressToken: 'p' }) } })
    const told = await server.message(({ method }) => method === 'notifications/progress')
    assert.equal(told.params.progressToken, 'p')
    server.send({ method: 'notifications/cancelled', params: { requestId: 1, _meta: envelope() } })
    await upstream.received[0]?.aborted
    await server.ask(2, 'tools/list')
    assert.ok(!server.messages.some(({ id }) => id === 1), 'a cancelled call is not answered')
  })
})

describe('a call with a traceparent', () => {
  for (const era of ['initialized', 'stateless'] as const)
    it(`continues the trace of a client that is ${era}`, async (t) => {
      const traces: string[] = []
      const collector = createServer(async (request, response) => {
        traces.push(await text(request))
        response.end('{}')
      }).listen(0, '127.0.0.1')
      await once(collector, 'listening')
      t.after(() => collector.close())
      const { port } = collector.address() as AddressInfo
      const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` }
      const server = spawnStateless(newPlace(), { ...SANDBOX, env })
      if (era === 'initialized') await server.initialize()
      const [trace, span] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7']
      const meta = { ...(era === 'stateless' ? envelope() : {}), traceparent: `00-${trace}-${span}-01` }
      const input = { messages: [{ role: 'user', content: 'Hello?' }] }
      await server.ask(1, 'tools/call', { name: 'gateway_chat_completion', arguments: input }, meta)
      server.child.stdin.end()
      assert.equal((await server.exit).code, 0)
      const sent = traces.flatMap((body) => JSON.parse(body).resourceSpans[0].scopeSpans[0].spans)
      assert.deepEqual(
        sent.map(({ traceId, parentSpanId }) => [traceId, parentSpanId]),
        [[trace, span]],
      )
    })
})

describe('the SDK’s clients', () => {
  for (const [mode, version] of [
    ['legacy', '2025-11-25'],
    ['auto', STATELESS],
    [{ pin: STATELESS }, STATELESS],
  ] as const)
    it(`of the second major work in the mode ${JSON.stringify(mode)}`, async (t) => {
      const place = newPlace()
      const { client, call } = await connectStateless(place, mode, {
        ...SANDBOX,
        capabilities: { roots: {} },
        prepare: (own) =>
          own.setRequestHandler('roots/list', () => ({ roots: [{ uri: pathToFileURL(place.home).href }] })),
      })
      t.after(() => client.close())
      assert.equal(client.getNegotiatedProtocolVersion(), version)
      assert.equal((await client.listTools()).tools.length, 12)
      await call('gateway_memory_store', { key: 'limits', value: 'five a minute' })
      assert.equal((await call('gateway_get_context')).structuredContent.root, place.home)
      const { contents } = await client.readResource({ uri: 'memory://default/limits' })
      assert.equal(contents[0] && 'text' in contents[0] && contents[0].text, 'five a minute')
      assert.match(JSON.stringify(await client.getPrompt({ name: 'start_session' })), /five a minute/)
      const asked = await call('gateway_chat_completion', { messages: [{ role: 'user', content: 'Hello?' }] })
      assert.notEqual(asked.isError, true)
    })

  it('of both majors share what they store, four at once', async (t) => {
    const place = newPlace()
    const clients = [
      await connect(place, SANDBOX),
      await connectStateless(place, { pin: STATELESS }, SANDBOX),
      await connectStateless(place, { pin: STATELESS }, SANDBOX),
      await connectStateless(place, 'legacy', SANDBOX),
    ]
    t.after(() => Promise.all(clients.map(({ client }) => client.close())))
    const store = (n: number) =>
      Promise.all(
        Array.from({ length: 10 }, (_, i) => clients[n]?.call('gateway_memory_store', { key: `${n}/${i}`, value: i })),
      )
    await Promise.all(clients.map((_, n) => store(n)))
    for (const { call } of clients)
      for (const key of ['0/0', '1/9', '2/5', '3/1'])
        assert.equal((await call('gateway_memory_recall', { key })).structuredContent.found, true, key)
  })
})
