import type { CallStats } from '../../../../../src/calls/call-stats.ts'
import { BarLinks } from '../../components/bars.tsx'
import { count, moment, utcDate } from '../../format.ts'
import { now } from '../../now.ts'
import { go, href, queryOf } from '../../router.ts'
import { DAY_MS, HOUR_MS } from '../../time.ts'
import { timeIn, timeText } from '../../typed.ts'
import { useLive } from '../../use-live.ts'

/** Days before now where no time is chosen. */
const DAYS = 30
/** Longest time with a bar for each hour, and the most bars. */
const HOURLY_MS = 4 * DAY_MS
const MOST_BARS = 400

/** Figure of the statistics that counts the calls of a status. The others are counted together only. */
const FIGURES: Readonly<Record<string, 'calls' | 'errors' | 'refused'>> = {
  '': 'calls',
  error: 'errors',
  refused: 'refused',
}
/** Calls of a list over its time. A bar or a range of bars becomes its time. None of statuses that are not counted. */
export function Histogram({ filter }: { filter: Readonly<Record<string, string>> }) {
  const { status = '', ...counted } = filter
  const figure = FIGURES[status]
  const to = filter.to ? Date.parse(filter.to) : now.value
  const from = filter.from ? Date.parse(filter.from) : Math.floor(to / DAY_MS) * DAY_MS - (DAYS - 1) * DAY_MS
  const isHourly = to - from <= HOURLY_MS
  const step = isHourly ? HOUR_MS : DAY_MS
  const first = Math.floor(from / step)
  const bars = Math.ceil(to / step) - first
  const isShown = figure !== undefined && bars > 1 && bars <= MOST_BARS
  const { data } = useLive<CallStats>(
    isShown
      ? `/api/calls/stats${queryOf({
          ...counted,
          from: new Date(from).toISOString(),
          to: timeIn(filter.to ?? ''),
          group_by: isHourly ? 'hour' : 'day',
        })}`
      : null,
    { everyMs: 10_000 },
  )
  if (!isShown || !data?.totals.calls) return null

  const sums = new Map(data.groups.map((group) => [Date.parse(group.key) / step, group]))
  const timeOf = (at: number) => timeText(Math.min(to, Math.max(from, at * step)))
  const addressOf = (one: number, other: number) =>
    href('calls', { query: { ...filter, from: timeOf(one), to: timeOf(other + 1) } })
  return (
    <BarLinks
      label={`Calls by ${isHourly ? 'hour' : 'day'}`}
      bars={Array.from({ length: bars }, (_, i) => {
        const at = first + i
        const { [figure]: calls = 0, errors = 0 } = sums.get(at) ?? {}
        const failed = errors > 0 && figure === 'calls' ? `, ${count(errors)} failed` : ''
        return {
          key: String(at),
          label: `${isHourly ? moment(at * step) : utcDate(at * step)}: ${count(calls)}${failed}`,
          value: calls,
          href: addressOf(at, at),
          failed: failed ? errors / calls : 0,
        }
      })}
      onBrush={(one, other) => go(addressOf(Number(one.key), Number(other.key)))}
    />
  )
}
