const MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const MAX_DAYS = 36_500

/** Accepted durations in words. */
export const DURATION = 'a whole number and s, m, h or d, such as 24h or 90d'

/**
 * Converts a duration such as `90d` to milliseconds. Null for other text, and for more than 100 years.
 *
 * @example durationMs('24h') // 86_400_000
 */
export function durationMs(text: string): number | null {
  const [, digits, unit] = /^(\d{1,10})([smhd])$/.exec(text) ?? []
  if (digits === undefined || unit === undefined) return null
  const ms = Number(digits) * MS[unit as keyof typeof MS]
  return ms <= MAX_DAYS * MS.d ? ms : null
}
