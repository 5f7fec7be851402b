import { type Description, METRICS } from '../metrics/descriptions.ts'
import type { MetricData } from '../metrics/metrics.ts'

/** Attribute in the JSON of OTLP. */
export interface OtlpAttribute {
  key: string
  value: { stringValue: string }
}

/** Aggregation of sums since the start of the process. OTLP's JSON writes enums as integers. */
const CUMULATIVE = 2
/** Labels → attributes of OpenTelemetry's conventions for generative AI. Others keep their names. */
const ATTRIBUTES: Readonly<Record<string, string>> = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  model: 'gen_ai.request.model',
}
/** Label of calls that run no model, which the conventions know nothing of. */
const NONE = 'none'

type Labels = Readonly<Record<string, string | number | undefined>>
interface Value {
  value: number
  labels: Labels
  metricName?: string
}

/**
 * Converts metrics to those of OTLP in the JSON mapping of protobuf (opentelemetry-proto, metrics/v1): 64-bit integers are
 * text, enums integers.
 *
 * @param times begin of the process and now
 */
export function otlpMetrics(metrics: readonly MetricData[], times: { since: Date; at: Date }): object[] {
  return metrics.flatMap((metric): object[] => {
    const { name, help } = metric
    const described = (METRICS as Readonly<Record<string, Description>>)[name]
    const values = (metric.values as readonly Value[]).filter(
      ({ value, labels }) => Number.isFinite(value) && (described?.otlp === undefined || labels.operation !== NONE),
    )
    if (values.length === 0) return []
    const common = { name: described?.otlp ?? name, description: help, unit: unitOf(described) }
    // prom-client has names or numbers for types, by the way of reading.
    const type = String(metric.type)
    if (type === 'histogram') return [{ ...common, histogram: histogramOf(values, times) }]
    const dataPoints = values.map(({ value, labels }) => ({
      attributes: attributesOf(labels),
      ...timesOf(times),
      asDouble: value,
    }))
    if (type !== 'counter') return [{ ...common, gauge: { dataPoints } }]
    return [{ ...common, sum: { aggregationTemporality: CUMULATIVE, isMonotonic: true, dataPoints } }]
  })
}

/** Gathers the samples of Prometheus' histograms, whose buckets count all below a bound, into points. */
function histogramOf(values: readonly Value[], times: { since: Date; at: Date }): object {
  const points = new Map<string, { labels: Labels; bounds: number[]; upTo: number[]; sum: number; count: number }>()
  for (const { value, labels: all, metricName = '' } of values) {
    const { le, ...labels } = all
    const key = JSON.stringify(labels)
    const point = points.get(key) ?? { labels, bounds: [], upTo: [], sum: 0, count: 0 }
    points.set(key, point)
    if (metricName.endsWith('_sum')) point.sum = value
    else if (metricName.endsWith('_count')) point.count = value
    else {
      point.upTo.push(value)
      if (Number.isFinite(Number(le))) point.bounds.push(Number(le))
    }
  }
  return {
    aggregationTemporality: CUMULATIVE,
    dataPoints: [...points.values()].map(({ labels, bounds, upTo, sum, count }) => ({
      attributes: attributesOf(labels),
      ...timesOf(times),
      count: String(count),
      sum,
      bucketCounts: upTo.map((counted, at) => String(counted - (upTo[at - 1] ?? 0))),
      explicitBounds: bounds,
    })),
  }
}

function attributesOf(labels: Labels): OtlpAttribute[] {
  const own = Object.entries(labels).map(([label, value]) => attribute(ATTRIBUTES[label] ?? label, String(value)))
  return labels.outcome === 'error' ? [...own, attribute('error.type', '_OTHER')] : own
}

const attribute = (key: string, stringValue: string): OtlpAttribute => ({ key, value: { stringValue } })

const timesOf = ({ since, at }: { since: Date; at: Date }) => ({
  startTimeUnixNano: `${since.getTime()}000000`,
  timeUnixNano: `${at.getTime()}000000`,
})

/** Unit by UCUM: what counts things is in braces. */
function unitOf(described: Description | undefined): string {
  if (described === undefined) return ''
  if (described.unit === 's' || described.unit === '1') return described.unit
  return `{${described.unit}}`
}
