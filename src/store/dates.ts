import { type RawBuilder, sql } from 'kysely'
import type { Engine } from './engine.ts'

/** The UTC date of a time column, as text: `2026-11-21`. */
export function utcDate(engine: Engine, column: string): RawBuilder<string> {
  return {
    sqlite: sql<string>`substr(${sql.ref(column)}, 1, 10)`,
    postgres: sql<string>`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD')`,
  }[engine]
}

/** The UTC hour of a time column, as text: `2026-11-21T13:00:00.000Z`. */
export function utcHour(engine: Engine, column: string): RawBuilder<string> {
  return {
    sqlite: sql<string>`substr(${sql.ref(column)}, 1, 13) || ':00:00.000Z'`,
    postgres: sql<string>`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24":00:00.000Z"')`,
  }[engine]
}

/**
 * The hour that a time falls into, as times are stored.
 *
 * @example hourOf('2026-11-21T13:30:00.000Z') // '2026-11-21T13:00:00.000Z'
 */
export const hourOf = (time: string): string => `${time.slice(0, 13)}:00:00.000Z`

/** The times that both engines hold, and that sort as text: PostgreSQL has no year 0, and another form of text is after 9999. */
const FIRST_MS = Date.parse('0001-01-01T00:00:00.000Z')
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * A time, as times are stored: RFC 3339 UTC with milliseconds; the first or the last that can be stored in place of one
 * beyond them.
 *
 * @param time RFC 3339 with any offset, or milliseconds since 1970
 * @example toUtc('9999-12-31T23:59:59-05:00') // '9999-12-31T23:59:59.999Z'
 */
export function toUtc(time: string | number): string {
  return new Date(Math.min(LAST_MS, Math.max(FIRST_MS, new Date(time).getTime()))).toISOString()
}
