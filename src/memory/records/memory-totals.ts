import { type Kysely, sql, type Transaction } from 'kysely'
import { runPrepared } from '../../store/prepared-sql.ts'
import type { Schema } from '../../store/schema.ts'
import type { MemoryTotalsRow } from '../../store/tables/memory-tables.ts'

/** Totals of a namespace, or a change of them. */
export type Totals = Omit<MemoryTotalsRow, 'shard'>

/** Rows that share a namespace's totals, so that concurrent writers rarely wait for each other. */
const SHARDS = 16

/** Adds to a namespace's totals, or subtracts with negative figures. A row with totals of 0 is deleted. */
export async function addToTotals(
  trx: Transaction<Schema>,
  { space, namespace, memories, bytes, words }: Totals,
): Promise<void> {
  const shard = Math.floor(Math.random() * SHARDS)
  await trx
    .insertInto('memory_totals')
    .values({ space, namespace, shard, memories, bytes, words })
    .onConflict((conflict) =>
      conflict.columns(['space', 'namespace', 'shard']).doUpdateSet({
        memories: sql`memory_totals.memories + excluded.memories`,
        bytes: sql`memory_totals.bytes + excluded.bytes`,
        words: sql`memory_totals.words + excluded.words`,
      }),
    )
    .execute()
  if (memories < 0)
    await trx
      .deleteFrom('memory_totals')
      .where('space', '=', space)
      .where('namespace', '=', namespace)
      .where('shard', '=', shard)
      .where('memories', '=', 0)
      .where('bytes', '=', 0)
      .where('words', '=', 0)
      .execute()
}

/**
 * Reads the totals of each namespace of a space (or of one namespace) at `now`, in one query. These are the running
 * totals without memories that have expired but are not yet swept.
 */
export async function totals(db: Kysely<Schema>, now: string, space: number, namespace?: string): Promise<Totals[]> {
  const only = namespace === undefined ? sql`` : sql`and namespace = ${namespace}`
  const query = sql<Totals>`
    select ${space} as space, namespace, cast(sum(memories) as bigint) as memories, cast(sum(bytes) as bigint) as bytes,
      cast(sum(words) as bigint) as words from (
      select namespace, memories, bytes, words from memory_totals where space = ${space} ${only}
      union all
      select namespace, -1, -bytes, -words from memories where space = ${space} ${only} and expires_at <= ${now}
    ) as held group by namespace having sum(memories) > 0 order by namespace`.compile(db)
  return (await runPrepared(db, query)).rows
}
