/** Length of a UTC day in milliseconds. */
export const DAY_MS = 86_400_000

/** Periods of usage in UTC days, today included. */
export const PERIODS = [
  { value: '1', label: 'Today (UTC)' },
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'A year' },
] as const
export type Period = (typeof PERIODS)[number]['value']

/** Start of a period that ends now, at the start of a UTC day. */
export function startOf(period: Period, now: Date): string {
  const today = Math.floor(now.getTime() / DAY_MS)
  return new Date((today - Number(period) + 1) * DAY_MS).toISOString()
}

/**
 * Points for each day since `from`, zero for days without usage.
 *
 * @param groups by UTC day: `2026-11-21`
 */
export function daysOf<Day extends { key: string }>(
  groups: readonly Day[],
  from: string,
  value: (day: Day) => number,
): [number, number][] {
  const byDay = new Map(groups.map((group) => [Date.parse(group.key), value(group)]))
  const points: [number, number][] = []
  for (let at = Date.parse(from); at <= Date.now(); at += DAY_MS) points.push([at, byDay.get(at) ?? 0])
  return points
}
