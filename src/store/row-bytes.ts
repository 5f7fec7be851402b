import { type RawBuilder, sql } from 'kysely'
import type { Engine } from './engine.ts'

/** SQL for the total size of some columns of a row, in bytes. SQLite computes it without reading the values' pages. */
export function widthOf(engine: Engine, columns: readonly string[]): RawBuilder<number> {
  const bytes = columns.map((column) => {
    const text = { sqlite: sql.ref(column), postgres: sql`${sql.ref(column)}::text` }[engine]
    return sql`coalesce(octet_length(${text}), 0)`
  })
  return sql<number>`(${sql.join(bytes, sql` + `)})`
}
