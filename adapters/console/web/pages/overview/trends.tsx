import { useRef, useState } from 'preact/hooks'
import type { CallSums } from '../../../../../src/calls/call-stats.ts'
import type { CallStatsReply } from '../../../../platform/routes/calls-routes.ts'
import { Card, ErrorNote, Grid, LineChart, Loading, type Series, Tabs } from '../../components/components.ts'
import { duration, usd } from '../../format.ts'
import { now } from '../../now.ts'
import { useLive } from '../../use-live.ts'
import { startOf } from './start-of.ts'
import './overview.css'

const HOUR_MS = 3_600_000
const SPANS = [
  { id: '24h', label: '24 hours', group: 'hour', stepMs: HOUR_MS, steps: 24 },
  { id: '7d', label: '7 days', group: 'hour', stepMs: HOUR_MS, steps: 168 },
  { id: '30d', label: '30 days', group: 'day', stepMs: 24 * HOUR_MS, steps: 30 },
] as const
type Span = (typeof SPANS)[number]
type SpanId = Span['id']

/** Calls, cost, tokens and latency over time. */
export function Trends() {
  const [spanId, setSpanId] = useState<SpanId>('24h')
  const span = SPANS.find(({ id }) => id === spanId) ?? SPANS[0]
  const path = `/api/calls/stats?from=${startOf('hour', firstOf(span))}&group_by=${span.group}`
  const { data, error, loading, reload } = useLive<CallStatsReply>(path, { everyMs: 10_000 })
  // Figures of the last span stay, at their own times, until those of the new span have arrived.
  const drawn = useRef<Span>(span)
  if (!loading) drawn.current = span
  const days = drawn.current.group === 'day'
  const lines = data && linesOf(data, drawn.current)

  return (
    <>
      <div class="trends-head">
        <h2>Over time</h2>
        <Tabs label="Time span" tabs={SPANS} active={spanId} onChange={setSpanId} />
      </div>
      <ErrorNote error={data ? null : error} onRetry={reload} />
      {!lines && !error && <Loading what="charts" />}
      {lines && (
        <Grid>
          <Card title="Calls">
            <LineChart
              label="Calls"
              days={days}
              series={[
                lines('Calls', (sums) => sums.calls, 0),
                { ...lines('Failed', (sums) => sums.errors, 0), color: '--bad' },
                { ...lines('Refused', (sums) => sums.refused, 0), color: '--warn' },
              ]}
            />
          </Card>
          <Card title="Cost">
            <LineChart
              label="Cost in USD"
              days={days}
              filled
              format={usd}
              series={[lines('Cost', (sums) => sums.upstream_cost_usd, 0)]}
            />
          </Card>
          <Card title="Tokens">
            <LineChart
              label="Tokens"
              days={days}
              series={[
                lines('Prompt', (sums) => sums.prompt_tokens, 0),
                lines('Completion', (sums) => sums.completion_tokens, 0),
              ]}
            />
          </Card>
          <Card title="Latency">
            <LineChart
              label="Latency"
              days={days}
              format={duration}
              series={[
                lines('Median (p50)', (sums) => sums.latency_ms.p50, null),
                lines('p95', (sums) => sums.latency_ms.p95, null),
              ]}
            />
          </Card>
        </Grid>
      )}
    </>
  )
}

/** Start of the first step of a span that ends now. */
const firstOf = ({ stepMs, steps }: Span) => Math.floor(now.value / stepMs) * stepMs - (steps - 1) * stepMs

/** Creates a function that makes the line of one figure. @returns `without` is the value of steps without calls */
function linesOf(stats: CallStatsReply, span: Span) {
  const { stepMs, steps } = span
  const first = firstOf(span)
  const sums = new Map(stats.groups.map((group) => [Date.parse(group.key), group]))
  return (label: string, figure: (sums: CallSums) => number | null, without: number | null): Series => ({
    label,
    points: Array.from({ length: steps }, (_, step) => {
      const at = first + step * stepMs
      const found = sums.get(at)
      return [at, found ? figure(found) : without] as const
    }),
  })
}
