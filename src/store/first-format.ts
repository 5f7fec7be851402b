import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { Engine } from './engine.ts'
import { type Schema, TABLES } from './schema.ts'

/** The step of the first format that is kept. Before it had its last form, commits wrote stores with others. */
export const FIRST_STEP = '001_initial'

/** Digest of the columns that {@link FIRST_STEP} makes. */
const DIGESTS: Readonly<Record<Engine, string>> = {
  sqlite: 'd35187266d5858c8b03042f83ddc3f109ac3332b809cc324ebbc40a35357bbac',
  postgres: 'd17b4461b0557e3bc78fe4a877f034251b8476e266ce442e3edabc5eadccf8c1',
}

/** Tables of that format that later steps dropped. */
const DROPPED = ['gaze_records']

interface Column {
  of: string
  name: string
  required: number
}

/** Tells whether a store whose only step is {@link FIRST_STEP} has the columns of its last form. */
export async function isFirstFormat(db: Kysely<Schema>, engine: Engine): Promise<boolean> {
  const columns = {
    sqlite: sql<Column>`select m.name as "of", c.name, c."notnull" as required
      from sqlite_master as m, pragma_table_info(m.name) as c where m.type = 'table'`,
    postgres: sql<Column>`select table_name as "of", column_name as name, case is_nullable when 'NO' then 1 else 0 end as required
      from information_schema.columns where table_schema = current_schema()`,
  }[engine]
  const { rows } = await columns.execute(db)
  const lines = rows
    .filter((row) => TABLES.includes(row.of) || DROPPED.includes(row.of))
    .map((row) => `${row.of}.${row.name} ${row.required}`)
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex') === DIGESTS[engine]
}
