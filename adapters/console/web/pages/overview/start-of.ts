/** Start of the hour of a time, or of its day in the reader's zone; RFC 3339. */
export function startOf(unit: 'hour' | 'day', ms: number): string {
  const start = new Date(ms)
  if (unit === 'day') start.setHours(0)
  start.setMinutes(0, 0, 0)
  return start.toISOString()
}
