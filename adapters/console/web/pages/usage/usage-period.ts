import { DAY_MS } from '../../time.ts'

/** Periods of usage in UTC days, today included. */
export const PERIODS = [
  { value: '1', label: 'Today (UTC)' },
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'A year' },
] as const
export type Period = (typeof PERIODS)[number]['value']

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
