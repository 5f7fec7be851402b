import { type Description, METRICS } from '../../adapters/metrics/descriptions.ts'
import { code, table } from './table.ts'

/** Writes the table of all metrics. */
export function metricsReference(): string {
  const rows = Object.entries(METRICS).map(([name, metric]: [string, Description]) => [
    code(name) + (metric.namesKeys ? ' ¹' : ''),
    metric.type,
    metric.unit,
    metric.labels.map(code).join(', '),
    metric.help + bucketsOf(metric),
  ])
  return table(['metric', 'type', 'unit', 'labels', 'what it says'], rows)
}

const bucketsOf = ({ buckets }: Description): string =>
  buckets === undefined ? '' : ` Buckets: ${buckets.map(String).join(', ')}.`
