import type { Period } from '../../identity/budgets.ts'

const DAY_MS = 86_400_000

/** First and last day of a period; `resetsAt` is the start of the next one, null for never. */
export interface PeriodDays {
  from: string
  to: string
  resetsAt: string | null
}

/**
 * Finds the period that contains a day.
 *
 * @param day a UTC day
 * @example
 * periodOf('week', '2026-11-24')
 * // { from: '2026-11-23', to: '2026-11-29', resetsAt: '2026-11-30T00:00:00.000Z' }
 */
export function periodOf(per: Period, day: string): PeriodDays {
  // Row name of the total.
  if (per === 'total') return { from: 'total', to: 'total', resetsAt: null }
  const at = new Date(`${day}T00:00:00.000Z`)
  const [first, next] = bounds[per](at)
  return { from: text(first), to: text(next - DAY_MS), resetsAt: new Date(next).toISOString() }
}

const bounds: Record<Exclude<Period, 'total'>, (at: Date) => [number, number]> = {
  day: (at) => [at.getTime(), at.getTime() + DAY_MS],
  week(at) {
    const monday = at.getTime() - ((at.getUTCDay() + 6) % 7) * DAY_MS
    return [monday, monday + 7 * DAY_MS]
  },
  month: (at) => [
    Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1),
    Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1),
  ],
}

const text = (time: number): string => new Date(time).toISOString().slice(0, 10)
