import { sql } from 'kysely'
import type { Store } from '../../store/store.ts'
import { createCountChanges } from './count-changes.ts'
import { deleteMemories, REMOVED } from './memory-expiry.ts'
import { sweepEndedSpaces } from './spaces.ts'

/** Memories that a transaction deletes. */
const AT_ONCE = 50

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
  for (let found = AT_ONCE; found > 0; deleted += found) found = await forgetWritten(store, keyId)
  for (let found = AT_ONCE; found > 0; deleted += found) found = await forgetVersionsOf(store, keyId)
  return deleted
}

/** Deletes memories that a key wrote, whoever owns them. @returns their number */
const forgetWritten = (store: Store, keyId: string): Promise<number> =>
  store.write(async (trx) => {
    const rows = await trx
      .selectFrom('memories')
      .select(REMOVED)
      .where('written_by', '=', keyId)
      .orderBy('seq')
      .limit(AT_ONCE)
      .forUpdate()
      .execute()
    const changes = createCountChanges()
    await deleteMemories(trx, rows, changes)
    await changes.write(trx)
    return rows.length
  })

/** Deletes earlier versions that a key wrote, of memories that others wrote last. @returns their number */
const forgetVersionsOf = (store: Store, keyId: string): Promise<number> =>
  store.write(async (trx) => {
    const { numAffectedRows } = await sql`delete from memory_versions where (id, version) in
      (select id, version from memory_versions where written_by = ${keyId} limit ${AT_ONCE})`.execute(trx)
    return Number(numAffectedRows ?? 0)
  })
