import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { checkCollector } from '../../adapters/http/collector.ts'
import { startTracing } from '../../adapters/http/tracing.ts'
import { VERSION } from '../../src/config/version.ts'
import { type CollectedSpan, type Collector, startCollector } from '../doubles/collector.ts'
import * as double from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

const PROMPT = 'the secret question'
const ANSWER = 'the secret answer'
const ASK = { messages: [{ role: 'user', content: PROMPT }] }
const CHAT = '/v1/chat/completions'
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT_ID = '00f067aa0ba902b7'
const CLIENT = 3
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
    server = await double.startUpstream()
  })
  afterEach(() => server.close())
  after(async () => {
    delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT
    await collector.close()
  })

  /** The spans of what `work` did with a gateway of its own, which is stopped before they are read. */
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
    return collector.spans
  }
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
    assert.deepEqual([span.traceId, span.parentSpanId], [TRACE_ID, PARENT_ID])
    const { 'gazeway.caller_id': callerId, ...attributes } = span.attributes
    assert.match(String(callerId), /^key_/)
    assert.deepEqual(attributes, {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': new URL(server.url).host,
      'gen_ai.request.model': 'double-chat',
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
    assert.deepEqual(collector.requests.at(-1), { path: '/v1/traces', contentType: 'application/json' })
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
    for (const span of spans) assert.ok(!span.parentSpanId && span.traceId !== TRACE_ID)
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
