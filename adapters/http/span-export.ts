import { Agent } from 'node:http'
import {
  type Attributes,
  type Context,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  type SpanContext,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import type { CallContext, CallRecord } from '../../src/calls/call-record.ts'
import { CALL_STATUSES } from '../../src/calls/call-status.ts'
import type { CallFacts, CallListener } from '../../src/calls/calls.ts'
import type { Log } from '../../src/config/log.ts'
import { VERSION } from '../../src/config/version.ts'
import type { Routing } from '../../src/inference/route/routing.ts'
import { proxyFor } from '../../src/wire/proxy-choice.ts'
import { agentThrough } from '../../src/wire/through-proxy.ts'
import { readTraceparent } from '../../src/wire/trace-context.ts'
import type { OnRequest } from '../metrics/request-metrics.ts'
import { type CallSpan, callDescriber } from './call-span.ts'
import { holdContents } from './held-contents.ts'
import { serverSpan } from './server-spans.ts'

/** Sends spans to a collector in batches, by OTLP over HTTP with JSON. */
export interface SpanExport {
  /** Adds the span of a call that has ended. */
  add: CallListener
  /** Begins the span of a request, which ends with its reply. */
  serve: OnRequest
  /** Sends the remaining spans and ends. @throws the exporter's error */
  close(): Promise<void>
}

/**
 * Opens the export of spans to a collector.
 *
 * @param options.url address of the collector for traces
 * @param options.upstream its providers may change between calls
 */
export function openSpanExport(options: {
  url: string
  upstream: { readonly routing: Routing }
  log: Log
}): SpanExport {
  const { url, upstream, log } = options
  logProblems(log)
  const { held, exporter } = holdContents(new OTLPTraceExporter({ url, ...proxiedAgent(url) }))
  const tracerProvider = new NodeTracerProvider({
    resource: ownResource(),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  })
  const tracer = tracerProvider.getTracer('gazeway', VERSION)
  const describe = describeCalls(upstream)
  const failed = new WeakMap<CallContext, SpanContext>()

  /** Describes a call, without its contents where too much waits for the collector. */
  function describeHeld(record: CallRecord, facts: CallFacts | undefined): { span: CallSpan; characters: number } {
    const span = describe(record, facts)
    const characters = record.content === undefined ? 0 : charactersOf(span.attributes)
    if (held.fits(characters)) return { span, characters }
    return { span: describe({ ...record, content: undefined }, facts), characters: 0 }
  }

  return {
    add(record, context, facts) {
      const { span: described, characters } = describeHeld(record, facts)
      const { name, kind, attributes, message } = described
      // A failed call and its fallback have the same context.
      const replaced = record.fallback_from !== null && context ? failed.get(context) : undefined
      const span = tracer.startSpan(
        name,
        { kind, attributes, startTime: new Date(record.at), links: replaced ? [{ context: replaced }] : [] },
        parentContext(context?.traceparent),
      )
      if (CALL_STATUSES[record.status].counts === 'error') {
        span.setStatus({ code: SpanStatusCode.ERROR, ...(message === null ? {} : { message }) })
        if (context) failed.set(context, span.spanContext())
      }
      if (span.isRecording()) held.note(span.spanContext().spanId, characters)
      span.end(new Date(Date.parse(record.at) + record.latency_ms))
    },
    serve(route, incoming, outgoing) {
      const { traceparent } = incoming.headers
      const parent = parentContext(typeof traceparent === 'string' ? traceparent : undefined)
      serverSpan(tracer, { route, incoming, outgoing }, parent)
    },
    async close() {
      try {
        await tracerProvider.shutdown()
      } finally {
        diag.disable()
      }
    },
  }
}

/** Logs what the SDK reports. It says only here that a collector is unreachable. */
function logProblems(log: Log): void {
  const warn = (detail: string) => log.warn('OpenTelemetry reported a problem.', { detail })
  diag.setLogger(
    { error: warn, warn, info: () => {}, debug: () => {}, verbose: () => {} },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
}

/** Describes calls by the upstreams that were configured once: a call may outlast its own. */
function describeCalls(upstream: { readonly routing: Routing }) {
  const describers = new Map<string, ReturnType<typeof callDescriber>>()
  let newest: Routing | undefined
  function learn(): void {
    const { routing } = upstream
    if (routing === newest) return
    newest = routing
    // The default comes last and wins. An upstream whose name is that of its provider has the same address.
    for (const { provider } of routing.upstreams.toReversed()) describers.set(provider.name, callDescriber(provider))
  }
  learn()
  return (record: CallRecord, facts: CallFacts | undefined): CallSpan => {
    learn()
    return (describers.get(record.upstream) ?? callDescriber(upstream.routing.upstreams[0].provider))(record, facts)
  }
}

const charactersOf = (attributes: Attributes): number =>
  Object.values(attributes).reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0)

/** Describes this process, with what `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` say. */
export const ownResource = () =>
  defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'gazeway', 'service.version': VERSION }))
    .merge(detectResources({ detectors: [envDetector] }))

/** Agent of the exporter for a collector behind a proxy. A fault of the proxy fails the exports, which are logged. */
function proxiedAgent(url: string): { httpAgentOptions?: (protocol: string) => Promise<Agent> } {
  try {
    if (proxyFor(url) === null) return {}
  } catch {
    // Reported by each export.
  }
  return {
    async httpAgentOptions(protocol) {
      const proxy = proxyFor(url)
      return proxy === null ? new Agent({ keepAlive: true }) : agentThrough(proxy, protocol)
    },
  }
}

/** Makes the caller's span the parent; none when `traceparent` does not name a valid one. */
function parentContext(traceparent: string | undefined): Context {
  const parent = readTraceparent(traceparent)
  if (parent === null) return ROOT_CONTEXT
  const { traceId, spanId, flags } = parent
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: flags, isRemote: true })
}
