import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Context, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api'
import { onReplyClosed } from '../web/reply-closed.ts'
import { noteTrace } from '../web/trace-parent.ts'

/** Routes that machines ask all the time. Spans of them would hide the others. */
const UNTRACED: ReadonlySet<string> = new Set(['/livez', '/readyz', '/health', '/metrics', 'unmatched'])

/**
 * Makes a span of a request by OpenTelemetry's conventions for HTTP servers. The spans of the upstream calls that it
 * causes become its children, and it is the parent that upstreams learn of.
 *
 * @param parent context of the request's `traceparent`
 */
export function serverSpan(
  tracer: Tracer,
  of: { route: string; incoming: IncomingMessage; outgoing: ServerResponse },
  parent: Context,
): void {
  const { route, incoming, outgoing } = of
  if (UNTRACED.has(route)) return
  const { method = 'GET', url = '' } = incoming
  const attributes = {
    'http.request.method': method,
    'http.route': route,
    // Without the query, which may have a key.
    'url.path': url.split('?', 1)[0],
    'url.scheme': 'http',
  }
  const span = tracer.startSpan(`${method} ${route}`, { kind: SpanKind.SERVER, attributes }, parent)
  const { traceId, spanId, traceFlags } = span.spanContext()
  noteTrace(incoming, `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`)
  onReplyClosed(outgoing, () => {
    // A client that left before the reply has no status.
    if (outgoing.headersSent) {
      const { statusCode } = outgoing
      span.setAttribute('http.response.status_code', statusCode)
      if (statusCode >= 500) {
        span.setAttribute('error.type', String(statusCode))
        span.setStatus({ code: SpanStatusCode.ERROR })
      }
    }
    span.end()
  })
}
