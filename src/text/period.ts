const DAY_MS = 86_400_000

/** First day of an all-time period, and row name of all-time spending. Sorts after all days. */
export const TOTAL = 'total'

/** One period, and its words in texts. */
interface PeriodRecord {
  /** Start of the period that contains a day, and of the next one, as times in milliseconds. Null for all time. */
  bounds: ((day: Date) => [start: number, next: number]) | null
  /** Said of an amount for each period: `5 per day`. */
  each: string
  /** Said of an amount in the current period: `0.4 today`. */
  current: string
  /** Description of the amount spent in the current period, where its name is not enough. */
  note: string | null
}

/** Periods of budgets and of spending: calendar periods in UTC, and all time. The shortest first. */
export const PERIODS = {
  day: {
    bounds: (day) => [day.getTime(), day.getTime() + DAY_MS],
    each: 'per day',
    current: 'today',
    note: null,
  },
  week: {
    bounds(day) {
      const monday = day.getTime() - ((day.getUTCDay() + 6) % 7) * DAY_MS
      return [monday, monday + 7 * DAY_MS]
    },
    each: 'per week',
    current: 'this week',
    note: 'Since Monday',
  },
  month: {
    bounds: (day) => [
      Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), 1),
      Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 1),
    ],
    each: 'per month',
    current: 'this month',
    note: null,
  },
  total: { bounds: null, each: 'in total', current: 'in total', note: null },
} as const satisfies Readonly<Record<string, PeriodRecord>>

/** Name of a period. */
export type Period = keyof typeof PERIODS

/** Names of all periods, the shortest first. */
export const PERIOD_NAMES = Object.keys(PERIODS) as readonly Period[]

/** First and last day of a period; `resetsAt` is the start of the next one, null for never. */
interface PeriodDays {
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
  const { bounds } = PERIODS[per]
  if (bounds === null) return { from: TOTAL, to: TOTAL, resetsAt: null }
  const [first, next] = bounds(new Date(`${day}T00:00:00.000Z`))
  return { from: text(first), to: text(next - DAY_MS), resetsAt: new Date(next).toISOString() }
}

const text = (time: number): string => new Date(time).toISOString().slice(0, 10)

/** Builds an object with a value for each period. */
export const forPeriods = <Name extends string, Value>(
  entry: (per: Period) => readonly [name: Name, value: Value],
): Record<Name, Value> => Object.fromEntries(PERIOD_NAMES.map(entry)) as Record<Name, Value>
