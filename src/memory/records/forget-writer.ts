import type { Store } from '../../store/store.ts'
import { createCountChanges } from './count-changes.ts'
import { deleteMemories, REMOVED } from './memory-expiry.ts'
import { sweepEndedSpaces } from './memory-spaces.ts'

/** Memories that a transaction deletes. */
const AT_ONCE = 50
/** Memories that are found at a time, beside all writers: nothing sorts them by their writer. */
const FOUND = 5_000

/**
 * Deletes the memories of a key with all versions: those of its own, and those that it wrote for others.
 *
 * @param now RFC 3339 UTC
 * @returns number of memories and versions
 */
export async function forgetWriter(store: Store, keyId: string, now: string): Promise<number> {
  await store.db.updateTable('memory_spaces').set({ ends_at: now }).where('key_id', '=', keyId).execute()
  let deleted = 0
  for (let found = AT_ONCE; found > 0; deleted += found)
    found = await store.write((trx) => sweepEndedSpaces(trx, now, AT_ONCE))
  for (let found = FOUND; found > 0; deleted += found) found = await forgetWritten(store, keyId)
  for (let found = FOUND; found > 0; deleted += found) found = await forgetVersionsOf(store, keyId)
  return deleted
}

/** Deletes the memories that a key wrote, also those that others own. @returns their number */
async function forgetWritten(store: Store, keyId: string): Promise<number> {
  const found = await store.reads
    .selectFrom('memories')
    .select('seq')
    .where('written_by', '=', keyId)
    .limit(FOUND)
    .execute()
  let deleted = 0
  for (let at = 0; at < found.length; at += AT_ONCE)
    deleted += await store.write(async (trx) => {
      const rows = await trx
        .selectFrom('memories')
        .select(REMOVED)
        .where(
          'seq',
          'in',
          found.slice(at, at + AT_ONCE).map(({ seq }) => seq),
        )
        .where('written_by', '=', keyId)
        .orderBy('seq')
        .forUpdate()
        .execute()
      const changes = createCountChanges()
      await deleteMemories(trx, rows, changes)
      await changes.write(trx)
      return rows.length
    })
  return deleted
}

/** Deletes earlier versions that a key wrote, of memories that others wrote last. @returns their number */
async function forgetVersionsOf(store: Store, keyId: string): Promise<number> {
  const found = await store.reads
    .selectFrom('memory_versions')
    .select(['id', 'version'])
    .where('written_by', '=', keyId)
    .limit(FOUND)
    .execute()
  let deleted = 0
  for (let at = 0; at < found.length; at += AT_ONCE)
    deleted += await store.write(async (trx) => {
      const { numDeletedRows } = await trx
        .deleteFrom('memory_versions')
        .where(({ eb, or }) =>
          or(found.slice(at, at + AT_ONCE).map(({ id, version }) => eb.and({ id, version, written_by: keyId }))),
        )
        .executeTakeFirstOrThrow()
      return Number(numDeletedRows)
    })
  return deleted
}
