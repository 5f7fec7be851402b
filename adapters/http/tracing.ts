import { CALL_STATUSES } from '../../src/calls/call-status.ts'
import type { Gateway } from '../../src/gateway.ts'
import { lazily } from '../../src/lazily.ts'
import { collectorUrl } from './collector.ts'

const loadSpanExport = lazily(() => import('./span-export.ts'))

/** Timeout of the last export at shutdown. */
const FLUSH_MS = 3000

/** A running exporter of spans. */
export interface Tracing {
  /** Sends the remaining spans, for at most 3 s. Never throws. */
  stop(): Promise<void>
}

/**
 * Sends a span for each upstream call to an OpenTelemetry collector, when the environment names one
 * (`OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, or `OTEL_EXPORTER_OTLP_ENDPOINT` with `/v1/traces` below it). Loads nothing
 * otherwise. The SDK reads its other settings from the environment: `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME`,
 * `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_TRACES_SAMPLER`, `OTEL_BSP_*`.
 *
 * A gateway makes the calls of all services, so start tracing once per gateway.
 *
 * @throws GazewayError `config_invalid` with the variable whose value is not an address
 */
export async function startTracing(
  gateway: Gateway,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Tracing> {
  const url = collectorUrl(env)
  if (url === null) return { stop: async () => {} }
  const { log, calls } = gateway
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? env.OTEL_EXPORTER_OTLP_PROTOCOL
  if (protocol === 'grpc')
    log.warn('Spans are sent as OTLP over HTTP, not gRPC: the endpoint must be the collector’s HTTP port (4318).')
  const { openSpanExport } = await loadSpanExport()
  const spans = openSpanExport({ url, upstream: gateway.upstream, log })
  const stopListening = calls.listen((record, context) => {
    // A refused call was not sent to an upstream.
    if (CALL_STATUSES[record.status].counts === 'refusal') return
    try {
      spans.add(record, context)
    } catch (err) {
      // The call has already ended, and a failed trace must not change its result.
      log.warn('Failed to create a span.', { call_id: record.call_id, err })
    }
  })
  return {
    async stop() {
      stopListening()
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(`The collector took longer than ${FLUSH_MS} ms.`)), FLUSH_MS)
      })
      try {
        await Promise.race([spans.close(), late])
      } catch (err) {
        log.warn('Failed to send the last spans.', { err })
      } finally {
        clearTimeout(timer)
      }
    },
  }
}
