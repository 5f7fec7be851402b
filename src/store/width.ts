import { type RawBuilder, sql } from 'kysely'
import type { Engine } from './engine.ts'

/**
 * The bytes of some columns of a row together. SQLite tells them without reading the values, whose pages a column that
 * stands after them would be looked for in.
 */
export function widthOf(engine: Engine, columns: readonly string[]): RawBuilder<number> {
  const bytes = columns.map((column) => {
    const text = { sqlite: sql.ref(column), postgres: sql`${sql.ref(column)}::text` }[engine]
    return sql`coalesce(octet_length(${text}), 0)`
  })
  return sql<number>`(${sql.join(bytes, sql` + `)})`
}
