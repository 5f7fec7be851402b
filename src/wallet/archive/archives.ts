import type { Kysely } from 'kysely'
import type { Schema } from '../../store/schema.ts'
import type { ArchiveRow } from '../../store/tables/wallet-tables.ts'

/** The sealed months, oldest first. */
export function listArchives(db: Kysely<Schema>): Promise<ArchiveRow[]> {
  return db.selectFrom('archives').selectAll().orderBy('month').execute()
}

/**
 * Time before which transfers and receipts of calls are read in archives, and not in the store, which may have some of them
 * still. Null while nothing is archived.
 */
export async function archivedUntil(db: Kysely<Schema>): Promise<string | null> {
  const last = await db.selectFrom('archives').select('ends_at').orderBy('month', 'desc').limit(1).executeTakeFirst()
  return last?.ends_at ?? null
}
