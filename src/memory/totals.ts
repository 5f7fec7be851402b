import { type Kysely, sql, type Transaction } from 'kysely'
import type { Schema } from '../store/schema.ts'
import type { MemoryTotalsRow } from '../store/tables/memory.ts'

/** Adds to (or, with negative figures, takes from) what a namespace holds; a namespace that holds nothing is forgotten. */
export async function addToTotals(trx: Transaction<Schema>, change: MemoryTotalsRow): Promise<void> {
  await trx
    .insertInto('memory_totals')
    .values(change)
    .onConflict((conflict) =>
      conflict.column('namespace').doUpdateSet({
        memories: sql`memory_totals.memories + excluded.memories`,
        bytes: sql`memory_totals.bytes + excluded.bytes`,
      }),
    )
    .execute()
  if (change.memories < 0)
    await trx.deleteFrom('memory_totals').where('namespace', '=', change.namespace).where('memories', '=', 0).execute()
}

/**
 * What each namespace (or only the given one) holds at `now`, in one read: the running totals less the memories that
 * have expired but are not yet swept.
 */
export async function totals(db: Kysely<Schema>, now: string, namespace?: string): Promise<MemoryTotalsRow[]> {
  const only = namespace === undefined ? sql`` : sql`where namespace = ${namespace}`
  const { rows } = await sql<MemoryTotalsRow>`
    select namespace, cast(sum(memories) as bigint) as memories, cast(sum(bytes) as bigint) as bytes from (
      select namespace, memories, bytes from memory_totals
      union all
      select namespace, -1, -bytes from memories where expires_at <= ${now}
    ) as held ${only} group by namespace having sum(memories) > 0 order by namespace`.execute(db)
  return rows
}
