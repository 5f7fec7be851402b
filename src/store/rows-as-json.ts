import { type Kysely, type RawBuilder, sql } from 'kysely'
import { yieldToEventLoop } from '../wire/yield-to-event-loop.ts'
import type { Engine } from './engine.ts'
import { runPrepared } from './prepared-sql.ts'
import type { Schema } from './schema.ts'

/** Rows per text. */
const ROWS = 64

/**
 * Reads rows as JSON texts, several rows per text, in any order. For many small rows this costs a fraction of single
 * rows, in the driver and between threads.
 *
 * @param of.prepares true for a statement that PostgreSQL prepares: see `runPrepared`
 * @param columns texts, whole numbers and nulls
 * @param rows a `select` that names `columns`
 */
export async function readPacked<Row>(
  { db, engine, prepares = false }: { db: Kysely<Schema>; engine: Engine; prepares?: boolean },
  columns: ReadonlyArray<keyof Row & string>,
  rows: RawBuilder<unknown>,
): Promise<Row[]> {
  const named = sql.join(columns.map((column) => sql.ref(column)))
  const query = sql<{ packed: string }>`select ${PACK[engine](named)} as packed
    from (select ${named}, row_number() over () as place from (${rows}) as found) as numbered
    group by place / ${sql.lit(ROWS)}`.compile(db)
  const { rows: texts } = await (prepares ? runPrepared(db, query) : db.executeQuery(query))
  const read: Row[] = []
  for (const { packed } of texts) {
    await yieldToEventLoop()
    for (const values of JSON.parse(packed) as unknown[][]) read.push(rowOf(columns, values))
  }
  return read
}

function rowOf<Row>(columns: readonly string[], values: readonly unknown[]): Row {
  const row: Record<string, unknown> = {}
  for (let i = 0; i < columns.length; i++) row[columns[i] as string] = values[i]
  return row as Row
}

const PACK: Record<Engine, (columns: RawBuilder<unknown>) => RawBuilder<string>> = {
  sqlite: (columns) => sql`json_group_array(json_array(${columns}))`,
  postgres: (columns) => sql`json_agg(json_build_array(${columns}))::text`,
}
