import { type RawBuilder, type Selectable, sql, type Transaction } from 'kysely'
import type { Schema } from '../store/schema.ts'
import type { MemoryRow } from '../store/tables/memory-tables.ts'
import { unmarked } from './marks.ts'
import { addToTotals, type Totals } from './memory-totals.ts'
import { deleteVersions, forgetVersions } from './memory-versions.ts'
import type { WordChanges } from './memory-words.ts'
import { forgetVectors } from './vectors.ts'

/** Columns with the index words of a memory. */
export const TEXTS = ['key_text', 'value_text', 'tags_text', 'also_text'] as const

/** Columns needed to delete a memory. */
export const REMOVED = ['seq', 'id', 'space', 'namespace', 'key', 'bytes', 'words', ...TEXTS] as const
export type Removed = Pick<Selectable<MemoryRow>, (typeof REMOVED)[number]>

/** Distinct index words of a memory. */
export const wordsOfRow = (row: Pick<MemoryRow, 'space' | (typeof TEXTS)[number]>): Set<string> =>
  unmarked(
    row.space,
    TEXTS.map((column) => row[column]),
  )

/** SQL condition: a row of `memories` has not expired at `now`. */
export const isLive = (now: string): RawBuilder<boolean> =>
  sql<boolean>`(memories.expires_at is null or memories.expires_at > ${now})`

/** Deletes memories that this transaction has locked, with all their versions. */
export async function deleteMemories(
  trx: Transaction<Schema>,
  removed: readonly Removed[],
  changes: WordChanges,
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
  changes: WordChanges,
): Promise<void> {
  if (removed.length === 0) return
  const rows = removed.map((row) => row.seq)
  await trx.deleteFrom('memory_tags').where('seq', 'in', rows).execute()
  await forgetVectors(trx, rows)
  await trx.deleteFrom('memories').where('seq', 'in', rows).execute()
  for (const row of removed) changes.take(row.space, wordsOfRow(row))
  for (const { space, namespace, memories, bytes, words } of sumsOf(removed))
    await addToTotals(trx, { space, namespace, memories: -memories, bytes: -bytes, words: -words })
}

/** Sums `rows` per namespace, in sorted order, so that concurrent transactions do not deadlock. */
function sumsOf(rows: readonly Removed[]): Totals[] {
  const sums = new Map<string, Totals>()
  for (const { space, namespace, bytes, words } of rows) {
    const id = `${space} ${namespace}`
    const sum = sums.get(id) ?? { space, namespace, memories: 0, bytes: 0, words: 0 }
    sums.set(id, { ...sum, memories: sum.memories + 1, bytes: sum.bytes + bytes, words: sum.words + words })
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum)
}

/**
 * Deletes memories and versions, the longest expired first, at most `limit` of each. Returns the number of memories.
 */
export async function sweepExpired(
  trx: Transaction<Schema>,
  { now, limit, changes }: { now: string; limit: number; changes: WordChanges },
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
