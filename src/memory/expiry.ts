import { type RawBuilder, type Selectable, sql, type Transaction } from 'kysely'
import type { Schema } from '../store/schema.ts'
import type { MemoryRow } from '../store/tables/memory.ts'
import { addToTotals } from './totals.ts'

/** What has to be known of a memory to delete it. */
export type Removed = Pick<Selectable<MemoryRow>, 'seq' | 'namespace' | 'bytes'>

/** The condition that a row of `memories` has not expired at `now`. */
export const isLive = (now: string): RawBuilder<boolean> =>
  sql<boolean>`(memories.expires_at is null or memories.expires_at > ${now})`

/** Deletes memories that this transaction has locked, with their tags and their share of the totals. */
export async function deleteMemories(trx: Transaction<Schema>, removed: readonly Removed[]): Promise<void> {
  if (removed.length === 0) return
  const rows = removed.map((row) => row.seq)
  await trx.deleteFrom('memory_tags').where('seq', 'in', rows).execute()
  await trx.deleteFrom('memories').where('seq', 'in', rows).execute()
  for (const namespace of namespacesOf(removed)) {
    const sizes = removed.filter((row) => row.namespace === namespace).map((row) => row.bytes)
    await addToTotals(trx, { namespace, memories: -sizes.length, bytes: -sizes.reduce((sum, bytes) => sum + bytes, 0) })
  }
}

/** In one order, so that two transactions never wait for each other in a circle. */
const namespacesOf = (rows: readonly Removed[]): string[] => [...new Set(rows.map((row) => row.namespace))].sort()

/** Deletes the longest expired memories, at most `limit`; returns how many. */
export async function sweepExpired(trx: Transaction<Schema>, now: string, limit: number): Promise<number> {
  const expired = await trx
    .selectFrom('memories')
    .select(['seq', 'namespace', 'bytes'])
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .execute()
  await deleteMemories(trx, expired)
  return expired.length
}
