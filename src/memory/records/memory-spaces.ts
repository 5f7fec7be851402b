import { type Kysely, sql, type Transaction } from 'kysely'
import type { Identity } from '../../identity/identity.ts'
import type { Schema } from '../../store/schema.ts'
import { createCountChanges } from './count-changes.ts'
import { deleteMemories, REMOVED } from './memory-expiry.ts'
import { deleteVersions } from './memory-versions.ts'

/** Owner of memories: the operator (null), or the key with this id. */
export type MemoryOwner = string | null

/** The number of the operator's space. */
const OPERATORS = 0
/** Number of a space without any memory. */
const EMPTY = Number.MAX_SAFE_INTEGER
/** Retention of a revoked key's memories, in milliseconds. An admin can read them until then. */
const KEPT_MS = 30 * 86_400_000

/**
 * Returns the owner of the memories that a key uses. A key with the scope `platform` has its own memories. Admins, and
 * keys for model calls only, use the operator's, as the tools do.
 */
export const memoryOwner = ({ id, scopes }: Pick<Identity, 'id' | 'scopes'>): MemoryOwner =>
  scopes.has('admin') || !scopes.has('platform') ? null : id

/** Returns the number of an owner's space, for reading. */
export async function findSpace(db: Kysely<Schema>, owner: MemoryOwner): Promise<number> {
  if (owner === null) return OPERATORS
  const row = await db.selectFrom('memory_spaces').select('space').where('key_id', '=', owner).executeTakeFirst()
  return row?.space ?? EMPTY
}

/** Returns the number of an owner's space, for storing. Creates the space if needed. */
export async function claimSpace(trx: Transaction<Schema>, owner: MemoryOwner): Promise<number> {
  const found = await findSpace(trx, owner)
  if (owner === null || found !== EMPTY) return found
  await trx
    .insertInto('memory_spaces')
    .values({ key_id: owner, ends_at: null })
    .onConflict((conflict) => conflict.column('key_id').doNothing())
    .execute()
  return findSpace(trx, owner)
}

/**
 * Schedules the memories of a revoked key for deletion 30 days after `at`. Part of the transaction that revokes the
 * key.
 */
export async function endSpace(trx: Transaction<Schema>, { id, at }: { id: string; at: string }): Promise<void> {
  const ends_at = new Date(Date.parse(at) + KEPT_MS).toISOString()
  await trx
    .updateTable('memory_spaces')
    .set({ ends_at: sql`coalesce(ends_at, ${ends_at})` })
    .where('key_id', '=', id)
    .execute()
}

/** Deletes at most `limit` memories of keys that were revoked 30 days ago. Returns their number. */
export async function sweepEndedSpaces(trx: Transaction<Schema>, now: string, limit: number): Promise<number> {
  const changes = createCountChanges()
  let deleted = 0
  while (deleted < limit) {
    const ended = await trx
      .selectFrom('memory_spaces')
      .select('space')
      .where('ends_at', '<=', now)
      .orderBy('ends_at')
      .limit(1)
      .forUpdate()
      .skipLocked()
      .executeTakeFirst()
    if (ended === undefined) break
    const rows = await trx
      .selectFrom('memories')
      .select(REMOVED)
      .where('space', '=', ended.space)
      .orderBy('seq')
      .limit(limit - deleted)
      .forUpdate()
      .execute()
    await deleteMemories(trx, rows, changes)
    deleted += rows.length
    if (deleted < limit) deleted += await deleteVersions(trx, { space: ended.space }, limit - deleted)
    if (deleted < limit) await trx.deleteFrom('memory_spaces').where('space', '=', ended.space).execute()
  }
  await changes.write(trx)
  return deleted
}
