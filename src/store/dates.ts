import { type RawBuilder, sql } from 'kysely'
import type { Engine } from './engine.ts'

/** SQL for the UTC date of a time column: `2026-11-21`. */
export function utcDate(engine: Engine, column: string): RawBuilder<string> {
  return {
    sqlite: sql<string>`substr(${sql.ref(column)}, 1, 10)`,
    postgres: sql<string>`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD')`,
  }[engine]
}

/** SQL for the UTC hour of a time column: `2026-11-21T13:00:00.000Z`. */
export function utcHour(engine: Engine, column: string): RawBuilder<string> {
  return {
    sqlite: sql<string>`substr(${sql.ref(column)}, 1, 13) || ':00:00.000Z'`,
    postgres: sql<string>`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24":00:00.000Z"')`,
  }[engine]
}

/**
 * Truncates a stored time to its hour.
 *
 * @example hourOf('2026-11-21T13:30:00.000Z') // '2026-11-21T13:00:00.000Z'
 */
export const hourOf = (time: string): string => `${time.slice(0, 13)}:00:00.000Z`

/**
 * Range of times that both engines store and that sort as text. PostgreSQL has no year 0, and years after 9999 have
 * another format.
 */
const FIRST_MS = Date.parse('0001-01-01T00:00:00.000Z')
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * Converts a time to the stored form, RFC 3339 UTC with milliseconds. Clamped to the range that can be stored.
 *
 * @param time RFC 3339 with any offset, or milliseconds since 1970
 * @example toUtc('9999-12-31T23:59:59-05:00') // '9999-12-31T23:59:59.999Z'
 */
export function toUtc(time: string | number): string {
  return new Date(Math.min(LAST_MS, Math.max(FIRST_MS, new Date(time).getTime()))).toISOString()
}
