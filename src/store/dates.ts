import { type RawBuilder, sql } from 'kysely'
import type { Engine } from './columns.ts'

/** The UTC date of a time column, as text: `2026-11-21`. */
export function utcDate(engine: Engine, column: string): RawBuilder<string> {
  return engine === 'sqlite'
    ? sql`substr(${sql.ref(column)}, 1, 10)`
    : sql`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD')`
}

/** The UTC hour of a time column, as text: `2026-11-21T13:00:00.000Z`. */
export function utcHour(engine: Engine, column: string): RawBuilder<string> {
  return engine === 'sqlite'
    ? sql`substr(${sql.ref(column)}, 1, 13) || ':00:00.000Z'`
    : sql`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24":00:00.000Z"')`
}
