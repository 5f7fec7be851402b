import { useRef, useState } from 'preact/hooks'
import type { CallSums } from '../../../../../src/calls/call-stats.ts'
import type { CallStatsReply } from '../../../../platform/routes/calls-routes.ts'
import { Card, Empty, ErrorNote, Loading, Tabs } from '../../components/content.ts'
import { LineChart, type Series } from '../../components/lists.ts'
import { duration, usd } from '../../format.ts'
import { now } from '../../now.ts'
import { href } from '../../router.ts'
import { DAY_MS, HOUR_MS, startOf } from '../../time.ts'
import { timeText } from '../../typed.ts'
import { useLive } from '../../use-live.ts'
import './overview.css'

const SPANS = [
  { id: '24h', label: '24 hours', group: 'hour', stepMs: HOUR_MS, steps: 24 },
  { id: '7d', label: '7 days', group: 'hour', stepMs: HOUR_MS, steps: 168 },
  { id: '30d', label: '30 days', group: 'day', stepMs: DAY_MS, steps: 30 },
] as const
type Span = (typeof SPANS)[number]
type SpanId = Span['id']

/** Height of one chart, and of the times below the last one, in pixels. */
const CHART_PX = 48
const TIMES_PX = 28

/** Figure over time, as one or more lines. */
interface Strip {
  name: string
  format?: (value: number) => string
  filled?: boolean
  lines: { label: string; of: (sums: CallSums) => number | null; without: number | null; color?: string }[]
}

const STRIPS: readonly Strip[] = [
  {
    name: 'Calls',
    lines: [
      { label: 'Calls', of: (sums) => sums.calls, without: 0 },
      { label: 'Failed', of: (sums) => sums.errors, without: 0, color: '--bad' },
      { label: 'Refused', of: (sums) => sums.refused, without: 0, color: '--warn' },
    ],
  },
  {
    name: 'Cost',
    format: usd,
    filled: true,
    lines: [{ label: 'Cost in USD', of: (sums) => sums.upstream_cost_usd, without: 0 }],
  },
  {
    name: 'Tokens',
    lines: [
      { label: 'Prompt', of: (sums) => sums.prompt_tokens, without: 0 },
      { label: 'Completion', of: (sums) => sums.completion_tokens, without: 0 },
    ],
  },
  {
    name: 'Latency',
    format: duration,
    lines: [
      { label: 'Median (p50)', of: (sums) => sums.latency_ms.p50, without: null },
      { label: 'p95', of: (sums) => sums.latency_ms.p95, without: null },
    ],
  },
]

/** Calls, cost, tokens and latency over time, one below the other, with one axis of time and one crosshair. */
export function Traffic() {
  const [spanId, setSpanId] = useState<SpanId>('24h')
  const span = SPANS.find(({ id }) => id === spanId) ?? SPANS[0]
  const path = `/api/calls/stats?from=${startOf('hour', firstOf(span))}&group_by=${span.group}`
  const { data, error, loading, reload } = useLive<CallStatsReply>(path, { everyMs: 10_000 })
  // Figures of the last span stay, at their own times, until those of the new span have arrived.
  const drawn = useRef<Span>(span)
  if (!loading) drawn.current = span

  return (
    <Card title="Traffic" actions={<Tabs label="Time span" tabs={SPANS} active={spanId} onChange={setSpanId} />}>
      <ErrorNote error={data ? null : error} onRetry={reload} />
      {!data && !error && <Loading what="charts" />}
      {data && data.totals.calls === 0 && (
        <Empty
          title={`No calls in ${drawn.current.label}`}
          hint="Have a coding agent use the models of Gazeway. Its calls appear here as they end."
          command="gazeway connect claude-code"
        />
      )}
      {data && data.totals.calls > 0 && <Strips stats={data} span={drawn.current} />}
    </Card>
  )
}

function Strips({ stats, span }: { stats: CallStatsReply; span: Span }) {
  const series = seriesOf(stats, span)
  const hrefOf = (ms: number) => href('calls', { query: { from: timeText(ms), to: timeText(ms + span.stepMs) } })
  return (
    <div class="strips">
      {STRIPS.map(({ name, lines, ...look }, at) => {
        const isLast = at === STRIPS.length - 1
        return (
          <section key={name} class="strip" aria-labelledby={`strip-${name}`}>
            <h3 id={`strip-${name}`}>{name}</h3>
            <LineChart
              {...look}
              label={name}
              days={span.group === 'day'}
              series={lines.map(series)}
              height={isLast ? CHART_PX + TIMES_PX : CHART_PX}
              hasTimes={isLast}
              together="traffic"
              hrefOf={hrefOf}
            />
          </section>
        )
      })}
    </div>
  )
}

/** Start of the first step of a span that ends now. */
const firstOf = ({ stepMs, steps }: Span) => Math.floor(now.value / stepMs) * stepMs - (steps - 1) * stepMs

/** Creates a function that makes the points of one line. */
function seriesOf(stats: CallStatsReply, span: Span) {
  const { stepMs, steps } = span
  const first = firstOf(span)
  const sums = new Map(stats.groups.map((group) => [Date.parse(group.key), group]))
  return ({ label, of, without, color }: Strip['lines'][number]): Series => ({
    label,
    ...(color !== undefined && { color }),
    points: Array.from({ length: steps }, (_, step) => {
      const at = first + step * stepMs
      const found = sums.get(at)
      return [at, found ? of(found) : without] as const
    }),
  })
}
