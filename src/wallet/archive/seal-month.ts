import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { sql, type Transaction } from 'kysely'
import { GazewayError } from '../../errors.ts'
import type { Signer } from '../../signing/signer.ts'
import { syncFolder } from '../../store/make-folder.ts'
import { renameInUse } from '../../store/rename-in-use.ts'
import { notWritten } from '../../store/replace-file.ts'
import type { Schema } from '../../store/schema.ts'
import type { Store } from '../../store/store.ts'
import type { ArchiveRow } from '../../store/tables/wallet-tables.ts'
import { closePeriod } from '../ledger/closed-periods.ts'
import { boundsOf } from '../ledger/statement-period.ts'
import { PRICE } from '../receipts/receipt-prices.ts'
import type { ArchiveFacts } from './archive-seal.ts'
import { archiveFile, type CheckedArchive, checkArchive } from './read-archive.ts'
import { type MonthRows, NO_LEDGER, writeArchive } from './write-archive.ts'

/** Rows of a block. */
const BLOCK = 1_000

/**
 * Seals a month: closes it, writes its transfers and receipts to a file, reads that again, and only then notes it in the
 * store. Deletes nothing.
 *
 * A file that is there already, of a run that was interrupted or of a store that was restored, is kept when it holds the
 * same rows.
 *
 * @throws GazewayError `conflict` when another process sealed the month, or another file has its name; `store_full`
 */
export async function sealMonth(
  store: Store,
  { month, folder, signer, now }: { month: string; folder: string; signer: Signer; now: () => Date },
): Promise<ArchiveRow> {
  await closePeriod(store, { period: month, by: 'gazeway store archive', now: now() })
  const { from, to } = boundsOf(month)
  const previous = await lastArchive(store)
  const path = archiveFile(folder, month)
  const partial = `${path}.partial`
  const checked = await (async () => {
    await rm(partial, { force: true })
    try {
      const about = {
        month,
        starts_at: from,
        ends_at: to,
        sealed_at: now().toISOString(),
        previous: previous && { month: previous.month, sha256: previous.sha256 },
        ledger_before: previous ? await headAfter(previous) : NO_LEDGER,
      }
      const { content } = await store.snapshot((trx) =>
        writeArchive(partial, about, rowsOfMonth(trx, { from, to }), signer),
      )
      const written = await checkArchive(partial)
      if (written.content !== content) throw unread(partial)
      if (existsSync(path)) return await sameAs(path, written)
      await renameInUse(() => rename(partial, path))
      await syncFolder(folder)
      return written
    } catch (error) {
      throw error instanceof GazewayError ? error : notWritten(error, path)
    } finally {
      await rm(partial, { force: true })
    }
  })()
  return note(store, toRow(checked, folder), previous)
}

/** The rows of a month, from one state of the store. */
async function* rowsOfMonth(trx: Transaction<Schema>, { from, to }: { from: string; to: string }): MonthRows {
  for (let [chain, position] = ['', 0]; ; ) {
    const rows = await trx
      .selectFrom('ledger_transfers')
      .selectAll()
      .where(sql<boolean>`(chain, position) > (${chain}, ${position})`)
      .where('at', '>=', from)
      .where('at', '<', to)
      .orderBy('chain')
      .orderBy('position')
      .limit(BLOCK)
      .execute()
    yield { of: 'transfers', rows }
    const last = rows.at(-1)
    if (last === undefined || rows.length < BLOCK) break
    ;({ chain, position } = last)
  }
  for (let [at, id] = [from, '']; ; ) {
    const rows = await trx
      .selectFrom('metered_calls')
      .selectAll()
      .select(PRICE.as('price'))
      .where(sql<boolean>`(at, call_id) > (${at}, ${id})`)
      .where('at', '<', to)
      .orderBy('at')
      .orderBy('call_id')
      .limit(BLOCK)
      .execute()
    // Each file has its prices in it.
    yield { of: 'receipts', rows: rows.map(({ price_number: _, ...row }) => row) }
    const last = rows.at(-1)
    if (last === undefined || rows.length < BLOCK) return
    ;[at, id] = [last.at, last.call_id]
  }
}

/** Checks a file that is in the place of one that was written now. @returns what is known of it */
async function sameAs(path: string, { content, facts }: CheckedArchive): Promise<CheckedArchive> {
  const found = await checkArchive(path)
  const same = ({ previous, ledger_before, ledger_after }: ArchiveFacts) =>
    JSON.stringify([previous, ledger_before, ledger_after])
  if (found.content === content && same(found.facts) === same(facts)) return found
  throw new GazewayError(
    'conflict',
    `${path} is there already and holds another ${facts.month} than this store does. Nothing was written. If it is of another store, ` +
      'name another folder with --to; if this store was restored from a backup of before, move the file away and keep it.',
  )
}

async function lastArchive({ db }: Pick<Store, 'db'>): Promise<ArchiveRow | null> {
  return (await db.selectFrom('archives').selectAll().orderBy('month', 'desc').limit(1).executeTakeFirst()) ?? null
}

async function headAfter({ folder, month, sha256 }: ArchiveRow): Promise<string> {
  const path = archiveFile(folder, month)
  const { facts, sha256: found } = await checkArchive(path)
  if (found !== sha256) throw unread(path)
  return facts.ledger_after
}

const unread = (path: string) =>
  new GazewayError('store_corrupt', `${path} does not hold what was written. Check the disk. Nothing was deleted.`)

function toRow({ facts, sha256, bytes, sealSha256 }: CheckedArchive, folder: string): ArchiveRow {
  const { month, starts_at, ends_at, transfers, receipts, sealed_at, seal_at } = facts
  const known = { month, starts_at, ends_at, folder, sha256, bytes, seal_at, seal_sha256: sealSha256 }
  return { ...known, transfers, receipts, sealed_at, pruned_at: null }
}

/** Notes a sealed month, unless another process has noted one meanwhile. */
async function note(store: Store, row: ArchiveRow, previous: ArchiveRow | null): Promise<ArchiveRow> {
  await store.write(async (trx) => {
    const last = await lastArchive({ db: trx })
    if (last?.month === previous?.month) {
      const { numInsertedOrUpdatedRows } = await trx
        .insertInto('archives')
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirstOrThrow()
      if (numInsertedOrUpdatedRows === 1n) return
    }
    throw new GazewayError(
      'conflict',
      `Another process archives this store; it has sealed ${last?.month ?? row.month}.`,
    )
  })
  return row
}
