import { CALL_STATUSES } from '../../src/calls/call-status.ts'
import type { Log, LogFields } from '../../src/config/log.ts'
import type { Gateway } from '../../src/gateway.ts'
import { lazily } from '../../src/lazily.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { collectorUrl } from './collector.ts'

const loadSpanExport = lazily(() => import('./span-export.ts'))
const loadMetricExport = lazily(() => import('./metric-export.ts'))

/** Timeout of the last export at shutdown. */
const FLUSH_MS = 3000

/** Running exporters of spans and metrics. */
export interface Tracing {
  /** Sends the rest, for at most 3 s. Never throws. */
  stop(): Promise<void>
}

type Env = Readonly<Record<string, string | undefined>>

/**
 * Sends spans and metrics to OpenTelemetry collectors, when the environment names them
 * (`OTEL_EXPORTER_OTLP_ENDPOINT`, or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` and `…_METRICS_ENDPOINT`): a span for each
 * request, with one for each of its upstream calls below it. Loads nothing otherwise. The SDK reads its other settings
 * from the environment: `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`,
 * `OTEL_TRACES_SAMPLER`, `OTEL_BSP_*`.
 *
 * A gateway makes the calls of all services, so start tracing once per gateway.
 *
 * @param metrics those of the process; without them there are no spans of requests, and no metrics are sent
 * @throws GazewayError `config_invalid` with the variable whose value is not an address
 */
export async function startTracing(gateway: Gateway, env: Env, metrics: Metrics | null = null): Promise<Tracing> {
  const urls = { traces: collectorUrl(env), metrics: metrics === null ? null : collectorUrl(env, 'metrics') }
  if (urls.traces === null && urls.metrics === null) return { stop: async () => {} }
  const { log } = gateway
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? env.OTEL_EXPORTER_OTLP_PROTOCOL
  if (protocol === 'grpc')
    log.warn('Spans are sent as OTLP over HTTP, not gRPC: the endpoint must be the collector’s HTTP port (4318).')
  const spans = urls.traces === null ? null : await exportSpans(gateway, urls.traces, metrics)
  const sent =
    urls.metrics === null || metrics === null ? null : await exportMetrics(urls.metrics, { metrics, env, log })
  return {
    async stop() {
      await Promise.all([spans?.stop(), sent?.close()].map((closing) => inTimeOrLogged(log, closing)))
    },
  }
}

async function exportSpans({ log, calls, upstream }: Gateway, url: string, metrics: Metrics | null): Promise<Tracing> {
  const { openSpanExport } = await loadSpanExport()
  const spans = openSpanExport({ url, upstream, log })
  /** Runs work on a span. A failed trace must not change the result of a request. */
  function guarded(work: () => void, fields: LogFields): void {
    try {
      work()
    } catch (err) {
      log.warn('Failed to create a span.', { ...fields, err })
    }
  }
  const stopListening = calls.listen((record, context, facts) => {
    // A refused call was not sent to an upstream.
    if (CALL_STATUSES[record.status].counts === 'refusal') return
    guarded(() => spans.add(record, context, facts), { call_id: record.call_id })
  })
  metrics?.onRequest((route, ...request) => guarded(() => spans.serve(route, ...request), { route }))
  return {
    stop() {
      stopListening()
      metrics?.onRequest(null)
      return spans.close()
    },
  }
}

async function exportMetrics(url: string, { metrics, env, log }: { metrics: Metrics; env: Env; log: Log }) {
  const [{ openMetricExport }, { ownResource }] = await Promise.all([loadMetricExport(), loadSpanExport()])
  const resource = Object.entries(ownResource().attributes).map(([key, value]) => ({
    key,
    value: { stringValue: String(value) },
  }))
  return openMetricExport({ url, resource, read: metrics.read, env, log })
}

/** Waits for an exporter that closes, for at most {@link FLUSH_MS}. */
async function inTimeOrLogged(log: Log, closing: Promise<void> | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The collector took longer than ${FLUSH_MS} ms.`)), FLUSH_MS)
  })
  try {
    await Promise.race([closing, late])
  } catch (err) {
    log.warn('Failed to send the last spans.', { err })
  } finally {
    clearTimeout(timer)
  }
}
