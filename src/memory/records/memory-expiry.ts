import { type RawBuilder, type Selectable, sql, type Transaction } from 'kysely'
import type { Schema } from '../../store/schema.ts'
import type { MemoryRow } from '../../store/tables/memory-tables.ts'
import { forgetVectors } from '../vectors/vectors.ts'
import { type CountChanges, TEXTS } from './count-changes.ts'
import { deleteVersions, forgetVersions } from './memory-versions.ts'

/** Columns needed to delete a memory. */
export const REMOVED = ['seq', 'id', 'space', 'project', 'namespace', 'key', 'bytes', 'words', ...TEXTS] as const
export type Removed = Pick<Selectable<MemoryRow>, (typeof REMOVED)[number]>

/** SQL condition: a row of `memories` has not expired at `now`. */
export const isLive = (now: string): RawBuilder<boolean> =>
  sql<boolean>`(memories.expires_at is null or memories.expires_at > ${now})`

/** Deletes memories that this transaction has locked, with all their versions. */
export async function deleteMemories(
  trx: Transaction<Schema>,
  removed: readonly Removed[],
  changes: CountChanges,
): Promise<void> {
  await forgetVersions(trx, removed)
  await takeOut(trx, removed, changes)
}

/**
 * Deletes the current version of memories that this transaction has locked, with their tags, and updates the totals.
 */
export async function takeOut(
  trx: Transaction<Schema>,
  removed: readonly Removed[],
  changes: CountChanges,
): Promise<void> {
  if (removed.length === 0) return
  const rows = removed.map((row) => row.seq)
  await trx.deleteFrom('memory_tags').where('seq', 'in', rows).execute()
  await forgetVectors(trx, rows)
  await trx.deleteFrom('memories').where('seq', 'in', rows).execute()
  for (const row of removed) changes.take(row)
}

/**
 * Deletes memories and versions, the longest expired first, at most `limit` of each. Returns the number of memories.
 */
export async function sweepExpired(
  trx: Transaction<Schema>,
  { now, limit, changes }: { now: string; limit: number; changes: CountChanges },
): Promise<number> {
  const expired = await trx
    .selectFrom('memories')
    .select(REMOVED)
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .execute()
  await deleteMemories(trx, expired, changes)
  await deleteVersions(trx, { expiredBy: now }, limit)
  return expired.length
}
