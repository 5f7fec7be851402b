import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Store } from '../../store/store.ts'
import type { ArchiveRow } from '../../store/tables/wallet-tables.ts'
import { OF_CALLS } from '../ledger/call-transfers.ts'
import type { Block } from './archive-seal.ts'
import { chargesApart, readCharges } from './archived-charges.ts'
import { type Archive, openArchive, readBlock } from './read-archive.ts'

/** Rows deleted in a transaction. Few, so that others wait only briefly. */
const BATCH = 500

/**
 * Deletes what a sealed month has in its file from the store, in small transactions with pauses between them. It may be
 * interrupted at any point and run again.
 *
 * What stays: transfers that are not of calls, since idempotency and refunds look at them, and receipts and transfers that
 * belong together and are of different months, as earlier versions made them.
 *
 * @returns how many rows were deleted
 * @throws GazewayError `store_corrupt` when the file is not as it was sealed; the rows that it holds stay then
 */
export async function pruneMonth(store: Store, row: ArchiveRow, now: () => Date): Promise<number> {
  const archive = await openArchive(row)
  const apart = chargesApart(await readCharges(archive))
  let deleted = 0
  for (const block of archive.facts.blocks) {
    const ids = await deletableIn(archive, block, apart)
    for (let at = 0; at < ids.length; at += BATCH) {
      const began = performance.now()
      deleted += await deleteRows(store, row, block.of, ids.slice(at, at + BATCH))
      await delay(performance.now() - began)
    }
  }
  await store.db
    .updateTable('archives')
    .set({ pruned_at: now().toISOString() })
    .where('month', '=', row.month)
    .execute()
  return deleted
}

/** Ids of the rows of a block that leave the store. */
async function deletableIn(archive: Archive, block: Block, apart: ReadonlySet<string>): Promise<string[]> {
  if (block.of === 'transfers') {
    const rows = await readBlock(archive, { ...block, of: block.of })
    return rows.map(({ key }) => key).filter((key) => !apart.has(key))
  }
  const rows = await readBlock(archive, { ...block, of: block.of })
  return rows.filter(({ transfer }) => !apart.has(transfer ?? '')).map(({ call_id }) => call_id)
}

function deleteRows(store: Store, row: ArchiveRow, of: Block['of'], ids: readonly string[]): Promise<number> {
  return store.write(async (trx) => {
    const deletion =
      of === 'transfers'
        ? trx
            .deleteFrom('ledger_transfers')
            .where('key', 'in', ids)
            .where('at', '>=', row.starts_at)
            .where('at', '<', row.ends_at)
            .where(sql<boolean>`kind in ${OF_CALLS}`)
        : trx
            .deleteFrom('metered_calls')
            .where('call_id', 'in', ids)
            .where('at', '>=', row.starts_at)
            .where('at', '<', row.ends_at)
    const { numDeletedRows } = await deletion.executeTakeFirstOrThrow()
    return Number(numDeletedRows)
  })
}
