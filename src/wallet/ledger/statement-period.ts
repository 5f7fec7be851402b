import * as z from 'zod'
import { GazewayError } from '../../errors.ts'

/** A UTC month or day. */
export const StatementPeriod = z
  .string()
  .regex(/^\d{4}-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?$/)
  .meta({ accepted: 'a UTC month such as 2026-11, or a day such as 2026-11-26' })

/**
 * Returns the start and the end of a period, RFC 3339. The end is exclusive.
 *
 * @throws GazewayError `validation_failed`
 * @example boundsOf('2026-11') // { from: '2026-11-01T00:00:00.000Z', to: '2026-12-01T00:00:00.000Z' }
 */
export function boundsOf(period: string): { from: string; to: string } {
  const [year = 0, month = 0, day] = period.split('-').map(Number)
  const from = new Date(Date.UTC(year, month - 1, day ?? 1))
  const to = new Date(day === undefined ? Date.UTC(year, month, 1) : Date.UTC(year, month - 1, day + 1))
  if (StatementPeriod.safeParse(period).success && from.toISOString().startsWith(period))
    return { from: from.toISOString(), to: to.toISOString() }
  throw new GazewayError(
    'validation_failed',
    'period: must be a UTC month such as 2026-11, or a day such as 2026-11-26.',
    { param: 'period' },
  )
}
