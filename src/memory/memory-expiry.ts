import { type RawBuilder, type Selectable, sql, type Transaction } from 'kysely'
import type { Schema } from '../store/schema.ts'
import type { MemoryRow } from '../store/tables/memory-tables.ts'
import { addToTotals, type Totals } from './memory-totals.ts'

/** What has to be known of a memory to delete it. */
export type Removed = Pick<Selectable<MemoryRow>, 'seq' | 'space' | 'namespace' | 'bytes'>

/** The condition that a row of `memories` has not expired at `now`. */
export const isLive = (now: string): RawBuilder<boolean> =>
  sql<boolean>`(memories.expires_at is null or memories.expires_at > ${now})`

/** Deletes memories that this transaction has locked, with their tags and their share of the totals. */
export async function deleteMemories(trx: Transaction<Schema>, removed: readonly Removed[]): Promise<void> {
  if (removed.length === 0) return
  const rows = removed.map((row) => row.seq)
  await trx.deleteFrom('memory_tags').where('seq', 'in', rows).execute()
  await trx.deleteFrom('memories').where('seq', 'in', rows).execute()
  for (const { space, namespace, memories, bytes } of sumsOf(removed))
    await addToTotals(trx, { space, namespace, memories: -memories, bytes: -bytes })
}

/** What `rows` hold of each namespace; in one order, so that two transactions never wait for each other in a circle. */
function sumsOf(rows: readonly Removed[]): Totals[] {
  const sums = new Map<string, Totals>()
  for (const { space, namespace, bytes } of rows) {
    const id = `${space} ${namespace}`
    const sum = sums.get(id) ?? { space, namespace, memories: 0, bytes: 0 }
    sums.set(id, { ...sum, memories: sum.memories + 1, bytes: sum.bytes + bytes })
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum)
}

/** Deletes the longest expired memories, at most `limit`; returns how many. */
export async function sweepExpired(trx: Transaction<Schema>, now: string, limit: number): Promise<number> {
  const expired = await trx
    .selectFrom('memories')
    .select(['seq', 'space', 'namespace', 'bytes'])
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .execute()
  await deleteMemories(trx, expired)
  return expired.length
}
