import { counted } from '../../text/plural.ts'

/** Difference that no signature or token minds, in milliseconds. */
const TOLERATED_MS = 2 * 60_000

/**
 * Tells how far the clock of this machine is off, by the `Date` of a reply. Null when it is right, or nobody knows.
 *
 * @example clockFault('Fri, 27 Nov 2026 10:00:00 GMT', Date.UTC(2026, 10, 27, 10, 10))
 */
export function clockFault(date: string | null, now: number = Date.now()): string | null {
  const ahead = now - Date.parse(date ?? '')
  if (Number.isNaN(ahead) || Math.abs(ahead) < TOLERATED_MS) return null
  const minutes = counted(Math.round(Math.abs(ahead) / 60_000), 'minute')
  return `The clock of this machine is ${minutes} ${ahead > 0 ? 'ahead' : 'behind'}: set it.`
}
