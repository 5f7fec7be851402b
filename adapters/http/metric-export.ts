import type { Log } from '../../src/config/log.ts'
import { VERSION } from '../../src/config/version.ts'
import { networkFetch } from '../../src/wire/network-fetch.ts'
import { createRepeated } from '../../src/wire/repeated-runs.ts'
import type { MetricData } from '../metrics/metrics.ts'
import { type OtlpAttribute, otlpMetrics } from './otlp-metrics.ts'

/** Interval of exports by default, in milliseconds: that of the OpenTelemetry SDKs. */
const EVERY_MS = 60_000
/** Time limit of one export, in milliseconds. */
const TIMEOUT_MS = 10_000

/** Sends metrics to a collector, by OTLP over HTTP with JSON. */
export interface MetricExport {
  /** Sends the last values and ends. Never throws. */
  close(): Promise<void>
}

/**
 * Opens the export of metrics. A failed export is logged; its values are in the next one, since all are cumulative.
 *
 * @param options.url address of the collector for metrics
 * @param options.resource attributes of this process
 * @param options.env has the headers of exports and their interval (`OTEL_METRIC_EXPORT_INTERVAL`)
 */
export function openMetricExport(options: {
  url: string
  resource: readonly OtlpAttribute[]
  read: () => Promise<readonly MetricData[]>
  env: Readonly<Record<string, string | undefined>>
  log: Log
}): MetricExport {
  const { url, resource, read, env, log } = options
  const since = new Date()
  const { address, headers } = target(url, env)

  async function send(): Promise<void> {
    const body = JSON.stringify({
      resourceMetrics: [
        {
          resource: { attributes: resource },
          scopeMetrics: [
            {
              scope: { name: 'gazeway', version: VERSION },
              metrics: otlpMetrics(await read(), { since, at: new Date() }),
            },
          ],
        },
      ],
    })
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    // Another address is not to get the headers of this one.
    const reply = await networkFetch(address, { method: 'POST', headers, body, signal, redirect: 'manual' })
    await reply.body?.cancel()
    if (!reply.ok) throw new Error(`The collector answered ${reply.status}.`)
  }
  const exports = createRepeated(send, {
    everyMs: intervalIn(env),
    onError: (err) => log.warn('Failed to send metrics; the next export has them.', { err }),
  })
  exports.start()
  return {
    async close() {
      await exports.stop()
      await send().catch((err) => log.warn('Failed to send the last metrics.', { err }))
    },
  }
}

function intervalIn({ OTEL_METRIC_EXPORT_INTERVAL: asked }: Readonly<Record<string, string | undefined>>): number {
  const ms = Number(asked)
  return Number.isInteger(ms) && ms >= 100 && ms <= 3_600_000 ? ms : EVERY_MS
}

/** Address without credentials, and the headers of an export. `fetch` refuses an address with a name and a password. */
function target(url: string, env: Readonly<Record<string, string | undefined>>) {
  const address = new URL(url)
  const { username, password } = address
  address.username = address.password = ''
  const basic = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return {
    address,
    headers: {
      'content-type': 'application/json',
      ...(username !== '' && { authorization: `Basic ${Buffer.from(basic).toString('base64')}` }),
      ...headersIn(env.OTEL_EXPORTER_OTLP_HEADERS),
      ...headersIn(env.OTEL_EXPORTER_OTLP_METRICS_HEADERS),
    },
  }
}

/** Reads `name=value,name=value` with percent-encoded values. Faulty pairs are ignored, as the SDKs do. */
function headersIn(text = ''): Record<string, string> {
  const pairs = text.split(',').flatMap((pair) => {
    const [, name, value] = /^\s*([\w-]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? []
    if (name === undefined || value === undefined) return []
    try {
      return [[name.toLowerCase(), decodeURIComponent(value)] as const]
    } catch {
      return []
    }
  })
  return Object.fromEntries(pairs)
}
