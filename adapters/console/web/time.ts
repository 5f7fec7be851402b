export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

/** Start of the hour of a time, or of its day in the reader's zone; RFC 3339. */
export function startOf(unit: 'hour' | 'day', ms: number): string {
  const start = new Date(ms)
  if (unit === 'day') start.setHours(0)
  start.setMinutes(0, 0, 0)
  return start.toISOString()
}

/** Start of the first of some UTC days that end with today; RFC 3339. */
export const firstOfDays = (days: number): string =>
  new Date((Math.floor(Date.now() / DAY_MS) - days + 1) * DAY_MS).toISOString()
