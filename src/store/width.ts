import { type RawBuilder, sql } from 'kysely'
import type { Engine } from './columns.ts'

/**
 * The bytes of some columns of a row together. SQLite tells them without reading the values, whose pages a column that
 * stands after them would be looked for in.
 */
export function widthOf(engine: Engine, columns: readonly string[]): RawBuilder<number> {
  const bytes = columns.map((column) =>
    engine === 'sqlite'
      ? sql`coalesce(octet_length(${sql.ref(column)}), 0)`
      : sql`coalesce(octet_length(${sql.ref(column)}::text), 0)`,
  )
  return sql<number>`(${sql.join(bytes, sql` + `)})`
}
