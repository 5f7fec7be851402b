import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { endWithTests } from './end-with-tests.ts'
import { otlpFault } from './otlp-json.ts'

/** A span as OTLP's JSON has it, with its attributes as a plain object. */
export interface CollectedSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  status: { code: number; message?: string }
  links: Array<{ traceId: string; spanId: string }>
  attributes: Record<string, unknown>
  /** Attributes of the resource that sent it. */
  resource: Record<string, unknown>
}

/** A metric as OTLP's JSON has it. */
export interface CollectedMetric {
  name: string
  unit: string
  sum?: { dataPoints: CollectedPoint[] }
  gauge?: { dataPoints: CollectedPoint[] }
  histogram?: { dataPoints: CollectedPoint[] }
}

interface CollectedPoint {
  attributes: KeyValues
  asDouble?: number
  count?: string
  bucketCounts?: string[]
  explicitBounds?: number[]
}

/** A real HTTP server that accepts traces and metrics like an OpenTelemetry collector, and refuses what is not their JSON. */
export interface Collector {
  /** Base URL, without `/v1/traces`. */
  url: string
  spans: CollectedSpan[]
  /** Those of the last export. */
  metrics: CollectedMetric[]
  /** Requests that were refused, with the reason. */
  refused: string[]
  /** The requests that brought them. */
  requests: Array<{ path: string; contentType: string | undefined; authorization?: string }>
  close(): Promise<void>
}

type KeyValues = Array<{ key: string; value: Record<string, unknown> }>

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = []
  const metrics: CollectedMetric[] = []
  const refused: string[] = []
  const requests: Collector['requests'] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { authorization } = request.headers
    requests.push({
      path: request.url ?? '',
      contentType: request.headers['content-type'],
      ...(authorization && { authorization }),
    })
    const body = JSON.parse(text)
    const fault = otlpFault(request.url === '/v1/metrics' ? 'metrics' : 'traces', body)
    if (fault !== null) {
      refused.push(fault)
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ message: fault }))
      return
    }
    if (body.resourceMetrics) metrics.length = 0
    for (const { scopeMetrics } of body.resourceMetrics ?? [])
      for (const scope of scopeMetrics) metrics.push(...scope.metrics)
    for (const { resource, scopeSpans } of body.resourceSpans ?? [])
      for (const scope of scopeSpans)
        for (const span of scope.spans)
          spans.push({
            ...span,
            links: span.links ?? [],
            attributes: plain(span.attributes),
            resource: plain(resource.attributes),
          })
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => endWithTests(server).listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    metrics,
    refused,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const plain = (pairs: KeyValues): Record<string, unknown> =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, plainValue(value)]))

/** OTLP writes each value under the name of its type, and 64-bit integers as text or numbers. */
function plainValue(value: Record<string, unknown>): unknown {
  if ('intValue' in value) return Number(value.intValue)
  if (!('arrayValue' in value)) return Object.values(value)[0]
  return (value.arrayValue as { values: Array<Record<string, unknown>> }).values.map(plainValue)
}
