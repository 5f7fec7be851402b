import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { checkCollector } from '../../adapters/http/collector.ts'
import { startTracing } from '../../adapters/http/tracing.ts'
import { VERSION } from '../../src/config/version.ts'
import { type CollectedSpan, type Collector, startCollector } from '../doubles/collector.ts'
import { otlpFault } from '../doubles/otlp-json.ts'
import * as double from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

const PROMPT = 'the secret question'
const ANSWER = 'the secret answer'
const ASK = { messages: [{ role: 'user', content: PROMPT }] }
const CHAT = '/v1/chat/completions'
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT_ID = '00f067aa0ba902b7'
const CLIENT = 3
const SERVER = 2
const INTERNAL = 1
const ERROR = 2

describe('the spans of upstream calls', () => {
  let server: double.UpstreamDouble
  let collector: Collector
  let running: RunningGateway | undefined

  before(async () => {
    collector = await startCollector()
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url
    process.env.OTEL_RESOURCE_ATTRIBUTES = 'deployment.environment.name=test'
  })
  beforeEach(async () => {
    collector.spans.length = 0
    collector.requests.length = 0
    server = await double.startUpstream()
  })
  afterEach(async () => {
    await server.close()
    assert.deepEqual(collector.refused, [])
  })
  after(async () => {
    delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT
    await collector.close()
  })

  /** The spans of upstream calls that `work` made with a gateway of its own, which is stopped before they are read. */
  async function spansOf(
    work: (post: (path: string, body: unknown, init?: RequestInit) => Promise<Response>) => Promise<void>,
    document: Record<string, unknown> = {},
    upstream = server.url,
  ): Promise<CollectedSpan[]> {
    const models = { chat: 'llm-3-fast', primary: 'llm-research', fallback: 'llm-think' }
    const settings = { upstream: { aliases: { 'llm-3-fast': 'double-chat' }, models }, ...document }
    running = await startGateway(upstream, {}, settings)
    const { url, key, close } = running
    try {
      await work((path, body, { headers, ...init } = {}) =>
        fetch(url + path, {
          ...init,
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        }),
      )
    } finally {
      await close()
    }
    return collector.spans.filter(({ kind }) => kind !== SERVER)
  }
  /** The spans of the requests that were served. */
  const served = () => collector.spans.filter(({ kind }) => kind === SERVER)
  const milliseconds = ({ startTimeUnixNano: start, endTimeUnixNano: end }: CollectedSpan) =>
    Number((BigInt(end) - BigInt(start)) / 1_000_000n)

  it('tell of a chat completion by the GenAI conventions, under the caller’s own span', async () => {
    server.on('/chat/completions', double.json(200, double.completion(ANSWER)))
    const began = Date.now()
    let callId: string | null = null
    const [span, ...others] = await spansOf(async (post) => {
      const reply = await post(CHAT, ASK, { headers: { traceparent: `00-${TRACE_ID}-${PARENT_ID}-01` } })
      callId = reply.headers.get('x-gazeway-call-id')
      await reply.text()
    })
    assert.ok(span)
    assert.deepEqual(others, [])
    assert.equal(span.name, 'chat double-chat')
    assert.equal(span.kind, CLIENT)
    const [request, ...more] = served()
    assert.deepEqual(more, [])
    assert.deepEqual([request?.traceId, request?.parentSpanId], [TRACE_ID, PARENT_ID])
    assert.deepEqual([span.traceId, span.parentSpanId], [TRACE_ID, request?.spanId])
    assert.equal(request?.name, `POST ${CHAT}`)
    assert.deepEqual(request.attributes, {
      'http.request.method': 'POST',
      'http.route': CHAT,
      'url.path': CHAT,
      'url.scheme': 'http',
      'http.response.status_code': 200,
    })
    assert.ok(BigInt(request.startTimeUnixNano) <= BigInt(span.startTimeUnixNano) + 1_000_000n)
    assert.equal(
      server.received.at(-1)?.headers.traceparent,
      `00-${TRACE_ID}-${request.spanId}-01`,
      'the upstream learns of it',
    )
    const { 'gazeway.caller_id': callerId, ...attributes } = span.attributes
    assert.match(String(callerId), /^key_/)
    assert.deepEqual(attributes, {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': new URL(server.url).host,
      'gen_ai.request.model': 'double-chat',
      'gen_ai.response.model': 'double-chat',
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 5,
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(server.url).port),
      'url.path': CHAT,
      'http.response.status_code': 200,
      'gazeway.call_id': callId,
      'gazeway.status': 'ok',
      'gazeway.surface': 'http',
      'gazeway.cost_usd': 0.000045,
      'gazeway.requested_model': 'llm-3-fast',
    })
    assert.equal(span.status.code, 0)
    assert.ok(Number(span.startTimeUnixNano) / 1e6 >= began - 1)
    assert.ok(milliseconds(span) >= 0 && milliseconds(span) <= Date.now() - began)
    assert.equal(span.resource['service.name'], 'gazeway')
    assert.equal(span.resource['service.version'], VERSION)
    assert.equal(span.resource['deployment.environment.name'], 'test')
    for (const path of ['/v1/traces', '/v1/metrics'])
      assert.deepEqual(
        collector.requests.find((one) => one.path === path),
        { path, contentType: 'application/json' },
      )
  })

  it('tell when the first chunk of a stream came', async () => {
    server.on('/chat/completions', double.sse(double.chunks([ANSWER])))
    const [span] = await spansOf(async (post) => {
      await (await post(CHAT, { ...ASK, stream: true })).text()
    })
    assert.ok(span)
    assert.equal(span.attributes['gen_ai.request.stream'], true)
    const first = Number(span.attributes['gen_ai.response.time_to_first_chunk'])
    assert.ok(first >= 0 && first * 1000 <= milliseconds(span) + 1)
  })

  it('tell of a failure and of the fallback that it led to, linked', async () => {
    server.on('/responses', double.fails(503))
    server.on('/chat/completions', double.json(200, double.completion(ANSWER)))
    const [failed, fallback] = await spansOf(async (post) => {
      await (await post('/v1/responses', { input: PROMPT })).text()
    })
    assert.ok(failed && fallback)
    const [request, ...more] = served()
    assert.deepEqual(more, [], 'one request')
    for (const attempt of [failed, fallback])
      assert.deepEqual([attempt.traceId, attempt.parentSpanId], [request?.traceId, request?.spanId])
    assert.equal(failed.name, 'chat llm-research')
    assert.deepEqual(failed.status, { code: ERROR })
    assert.equal(failed.attributes['error.type'], '503')
    assert.equal(failed.attributes['gazeway.status'], 'error')
    assert.equal(fallback.name, 'chat llm-think')
    assert.equal(fallback.attributes['gazeway.fallback_from'], failed.attributes['gazeway.call_id'])
    assert.equal(fallback.attributes['error.type'], undefined)
    assert.deepEqual(
      fallback.links.map(({ traceId, spanId }) => [traceId, spanId]),
      [[failed.traceId, failed.spanId]],
    )
  })

  it('tell of an upstream that does not answer without a status', async () => {
    server.on('/chat/completions', double.drops)
    const [span] = await spansOf(async (post) => {
      await (await post(CHAT, ASK)).text()
    })
    assert.equal(span?.attributes['error.type'], '_OTHER')
    assert.equal(span?.attributes['http.response.status_code'], undefined)
  })

  it('tell of a client that left as aborted, which is no error', async () => {
    server.on('/chat/completions', double.sse(double.chunks(['a', 'b']).slice(0, 2), 'hang'))
    const [span] = await spansOf(async (post) => {
      const leaving = new AbortController()
      const reply = await post(CHAT, { ...ASK, stream: true }, { signal: leaving.signal })
      await reply.body?.getReader().read()
      const recorded = new Promise<void>((resolve) => running?.gateway.calls.listen(() => resolve()))
      leaving.abort()
      await recorded
    })
    assert.equal(span?.attributes['gazeway.status'], 'aborted')
    assert.equal(span?.attributes['error.type'], undefined)
    assert.equal(span?.status.code, 0)
  })

  it('keep to themselves what was said, in errors too', async () => {
    const quoting = double.json(400, { error: { message: `not allowed: ${PROMPT}`, type: 'invalid_request_error' } })
    server.on('/chat/completions', double.json(200, double.completion(ANSWER)), quoting)
    const spans = await spansOf(async (post) => {
      await (await post(CHAT, ASK)).text()
      await (await post(CHAT, ASK)).text()
    })
    assert.equal(spans.length, 2)
    assert.doesNotMatch(JSON.stringify(spans), /secret/)
  })

  it('tell what was said where the operator keeps it', async () => {
    const weather = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }
    const asking = { role: 'assistant', content: null, tool_calls: [weather] }
    const completion = double.completion(ANSWER)
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
    const messages = [
      { role: 'user', content: [{ type: 'text', text: PROMPT }, image] },
      asking,
      { role: 'tool', tool_call_id: 'call_1', content: 'rain' },
    ]
    const item = { type: 'function_call_output', call_id: 'c', output: 'sun' }
    server.on('/chat/completions', double.json(200, completion), double.fails(400))
    server.on('/responses', double.json(200, double.response(ANSWER)))
    const [chat, refused, response] = await spansOf(
      async (post) => {
        await (await post(CHAT, { messages })).text()
        await (await post(CHAT, ASK)).text()
        await (await post('/v1/responses', { input: [item], instructions: 'Be short.' })).text()
      },
      { audit: { store_content: true } },
    )
    const told = (span: CollectedSpan | undefined, name: string) =>
      JSON.parse(String(span?.attributes[`gen_ai.${name}`]))
    assert.deepEqual(told(chat, 'input.messages'), [
      { role: 'user', parts: [{ type: 'text', content: PROMPT }, { type: 'image_url' }] },
      {
        role: 'assistant',
        parts: [{ type: 'tool_call', id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' }],
      },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'call_1', response: 'rain' }] },
    ])
    const said = { role: 'assistant', parts: [{ type: 'text', content: ANSWER }], finish_reason: 'stop' }
    assert.deepEqual(told(chat, 'output.messages'), [said])
    assert.deepEqual(chat?.attributes['gen_ai.response.finish_reasons'], ['stop'])
    assert.equal(chat?.attributes['gen_ai.response.model'], 'double-chat')
    assert.equal(chat?.attributes['gen_ai.response.id'], 'chatcmpl-1')
    assert.match(refused?.status.message ?? '', /double says 400/)
    assert.deepEqual(told(response, 'input.messages'), [
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c', response: 'sun' }] },
    ])
    assert.deepEqual(told(response, 'system_instructions'), [{ type: 'text', content: 'Be short.' }])
    assert.deepEqual(told(response, 'output.messages'), [said])
  })

  it('tell of sessions, prompt caches, the class of an error and the parameters of a request', async () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 5,
      total_tokens: 105,
      prompt_tokens_details: { cached_tokens: 80, cache_write_tokens: 10 },
    }
    server.on('/chat/completions', double.json(200, double.completion(ANSWER, usage)), double.hangs)
    const asked = { ...ASK, max_tokens: 9, temperature: 0.5, top_p: 1, stop: ['end'], n: 2, reasoning_effort: 'low' }
    const [cached, late] = await spansOf(
      async (post) => {
        await (await post(CHAT, asked, { headers: { 'x-session-id': 'session-of-the-test' } })).text()
        await (await post(CHAT, ASK)).text()
      },
      { audit: { store_content: true }, upstream: { timeout_ms: 2000, max_retries: 0 } },
    )
    const { attributes = {} } = cached ?? {}
    assert.equal(attributes['gen_ai.conversation.id'], 'session-of-the-test')
    assert.equal(attributes['gen_ai.usage.cache_read.input_tokens'], 80)
    assert.equal(attributes['gen_ai.usage.cache_write.input_tokens'], 10)
    const names = ['max_tokens', 'temperature', 'top_p', 'stop_sequences', 'choice.count', 'reasoning.level']
    assert.deepEqual(
      names.map((name) => attributes[`gen_ai.request.${name}`]),
      [9, 0.5, 1, ['end'], 2, 'low'],
    )
    assert.equal(late?.attributes['error.type'], 'timeout')
    assert.equal(late?.attributes['gen_ai.request.stop_sequences'], undefined)
    const [, request] = served()
    assert.equal(request?.attributes['error.type'], '504')
    assert.equal(request?.status.code, ERROR)
  })

  it('tell of the model that answered and of parameters without a text, whatever is stored', async () => {
    const answer = { ...double.completion(ANSWER), model: 'double-chat-2026-11' }
    const chunks = double.chunks([ANSWER]).map((chunk) => ({ ...chunk, model: 'double-chat-2026-11' }))
    server.on('/chat/completions', double.json(200, answer), double.sse(chunks), double.fails(503))
    const asked = { ...ASK, max_tokens: 9, seed: 7, reasoning_effort: 'low', stop: [PROMPT] }
    const spans = await spansOf(
      async (post) => {
        await (await post(CHAT, asked)).text()
        await (await post(CHAT, { ...asked, stream: true })).text()
        await (await post(CHAT, { ...asked, reasoning_effort: PROMPT })).text()
      },
      { upstream: { max_retries: 0 } },
    )
    const named = ['request.max_tokens', 'request.seed', 'request.reasoning.level', 'response.model']
    assert.deepEqual(
      spans.map(({ attributes }) => named.map((name) => attributes[`gen_ai.${name}`])),
      [
        [9, 7, 'low', 'double-chat-2026-11'],
        [9, 7, 'low', 'double-chat-2026-11'],
        [9, 7, undefined, undefined],
      ],
    )
    assert.doesNotMatch(JSON.stringify(spans), /secret/)
  })

  it('come with metrics by the same conventions, which a collector accepts', async () => {
    server.on('/chat/completions', double.sse(double.chunks([ANSWER])), double.fails(503))
    process.env.OTEL_EXPORTER_OTLP_METRICS_HEADERS = 'authorization=Bearer%20of-the-collector'
    try {
      await spansOf(async (post) => {
        await (await post(CHAT, { ...ASK, stream: true })).text()
        await (await post(CHAT, ASK)).text()
      })
    } finally {
      delete process.env.OTEL_EXPORTER_OTLP_METRICS_HEADERS
    }
    const sent = collector.requests.filter(({ path }) => path === '/v1/metrics')
    assert.deepEqual([...new Set(sent.map(({ authorization }) => authorization))], ['Bearer of-the-collector'])
    const found = (name: string) => collector.metrics.find((metric) => metric.name === name) ?? assert.fail(name)
    const duration = found('gen_ai.client.inference.duration')
    assert.equal(duration.unit, 's')
    const points = duration.histogram?.dataPoints ?? []
    assert.deepEqual(
      points.map(({ attributes, count }) => [
        Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue])),
        count,
      ]),
      ['ok', 'error'].map((outcome) => [
        {
          upstream: 'default',
          'gen_ai.provider.name': 'other',
          'gen_ai.request.model': 'llm-3-fast',
          'gen_ai.operation.name': 'chat',
          outcome,
          ...(outcome === 'error' && { 'error.type': '_OTHER' }),
        },
        '1',
      ]),
    )
    assert.deepEqual(points[0]?.explicitBounds?.slice(0, 3), [0.01, 0.02, 0.04])
    assert.equal(found('gen_ai.client.inference.time_to_first_chunk').histogram?.dataPoints.length, 1)
    assert.equal(found('gazeway_upstream_calls_total').sum?.dataPoints.length, 2)
    assert.equal(found('gazeway_store_up').gauge?.dataPoints[0]?.asDouble, 1)
    assert.ok(found('nodejs_eventloop_lag_p99_seconds').gauge)
  })

  it('have no metrics sent on to an address that the collector names', async (t) => {
    const moved = createServer((request, response) => {
      request.resume().on('end', () => response.writeHead(307, { location: `${collector.url}/v1/metrics` }).end())
    }).listen(0, '127.0.0.1')
    t.after(() => moved.close().closeAllConnections())
    await once(moved, 'listening')
    const { port } = moved.address() as AddressInfo
    process.env.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT = `http://127.0.0.1:${port}/v1/metrics`
    try {
      await spansOf(async () => {})
    } finally {
      delete process.env.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT
    }
    assert.ok(!collector.requests.some(({ path }) => path === '/v1/metrics'))
    assert.match(running?.logged.join('') ?? '', /The collector answered 307/)
  })

  it('would be refused by that collector in another form', () => {
    const point = { attributes: [], timeUnixNano: '1', asDouble: 1 }
    const body = (metric: object) => ({
      resourceMetrics: [{ resource: { attributes: [] }, scopeMetrics: [{ metrics: [metric] }] }],
    })
    const gauge = (of: object) => body({ name: 'm', gauge: { dataPoints: [of] } })
    const histogram = (of: object) =>
      body({
        name: 'm',
        histogram: { aggregationTemporality: 2, dataPoints: [{ ...point, asDouble: undefined, ...of }] },
      })
    assert.equal(otlpFault('metrics', gauge(point)), null)
    for (const malformed of [
      gauge({ ...point, timeUnixNano: 1 }),
      gauge({ ...point, asDouble: '1' }),
      gauge({ ...point, as_double: 1 }),
      gauge({ ...point, attributes: [{ key: 'k', value: 'text' }] }),
      gauge({ ...point, attributes: { k: 'text' } }),
      body({ name: 'm', sum: { dataPoints: [point], aggregationTemporality: 'AGGREGATION_TEMPORALITY_CUMULATIVE' } }),
      histogram({ count: '2', sum: 1, bucketCounts: ['1', '0'], explicitBounds: [1] }),
      histogram({ count: '1', sum: 1, bucketCounts: ['1'], explicitBounds: [1] }),
      histogram({ count: 1, sum: 1, bucketCounts: ['1', '0'], explicitBounds: [1] }),
    ])
      assert.notEqual(otlpFault('metrics', malformed), null, JSON.stringify(malformed))
  })

  it('begin a trace when the caller sends no valid context, and follow its sampling flag', async () => {
    server.on('/chat/completions', double.json(200, double.completion(ANSWER)))
    const none = [
      'nonsense',
      `00-${'0'.repeat(32)}-${PARENT_ID}-01`,
      `00-${TRACE_ID}-${'0'.repeat(16)}-01`,
      `ff-${TRACE_ID}-${PARENT_ID}-01`,
      `00-${TRACE_ID}-${PARENT_ID}-01-more`,
    ]
    const spans = await spansOf(async (post) => {
      for (const traceparent of [...none, `00-${TRACE_ID}-${PARENT_ID}-00`])
        await (await post(CHAT, ASK, { headers: { traceparent } })).text()
    })
    assert.equal(spans.length, none.length)
    const requests = served()
    assert.equal(requests.length, none.length)
    for (const request of requests) assert.ok(!request.parentSpanId && request.traceId !== TRACE_ID)
    const parents = requests.map(({ spanId }) => spanId)
    for (const span of spans) assert.ok(parents.includes(span.parentSpanId ?? ''))
  })

  it('tell of the sandbox as work in this process, and of what is no model’s work by its path', async () => {
    const [chat, models] = await spansOf(
      async (post) => {
        await (await post(CHAT, ASK)).text()
        const list = { method: 'GET', path: '/models' } as const
        await running?.gateway.upstream.directCall(list, { surface: 'stdio', callerId: null })
      },
      {},
      'sandbox',
    )
    assert.equal(chat?.kind, INTERNAL)
    assert.equal(chat?.attributes['server.address'], undefined)
    assert.equal(models?.name, 'upstream request')
    assert.equal(models?.attributes['url.path'], '/v1/models')
    assert.equal(models?.attributes['gen_ai.operation.name'], undefined)
  })

  it('are not made without a collector, nor where they are switched off', async () => {
    server.on('/chat/completions', double.json(200, double.completion(ANSWER)))
    process.env.OTEL_SDK_DISABLED = 'true'
    try {
      const spans = await spansOf(async (post) => {
        assert.ok(running)
        const off = await startTracing(running.gateway, {})
        await (await post(CHAT, ASK)).text()
        await off.stop()
      })
      assert.deepEqual(spans, [])
    } finally {
      delete process.env.OTEL_SDK_DISABLED
    }
  })

  it('have a collector that is found where its address has a name and a password, which it is asked with', async (t) => {
    const asked: unknown[] = []
    const proxy = createServer(({ url, headers }, response) => {
      asked.push([url, headers.authorization])
      response.end()
    }).listen(0, '127.0.0.1')
    t.after(() => proxy.close().closeAllConnections())
    await once(proxy, 'listening')
    const host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const found = await checkCollector({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://me:p%40ss@${host}` })
    assert.equal(found, `spans go to http://me:***@${host}/v1/traces`)
    assert.deepEqual(asked, [['/v1/traces', `Basic ${Buffer.from('me:p@ss').toString('base64')}`]])
  })

  it('cost the gateway nothing but a line in its log when the collector is down', async () => {
    server.on('/chat/completions', double.json(200, double.completion(ANSWER)))
    const down = await startCollector()
    await down.close()
    process.env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT = `${down.url}/v1/traces`
    const began = Date.now()
    try {
      await spansOf(async (post) => {
        assert.equal((await post(CHAT, ASK)).status, 200)
      })
    } finally {
      delete process.env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
    }
    assert.ok(Date.now() - began < 20_000, 'it stops all the same')
    assert.match(running?.logged.join('') ?? '', /Failed to send the last spans/)
  })
})
