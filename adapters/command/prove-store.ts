import { sql } from 'kysely'
import { GazewayError } from '../../src/errors.ts'
import { escrowFaults } from '../../src/escrow/escrow-faults.ts'
import { openForReading } from '../../src/store/existing-store.ts'
import { RECORD_TABLES, type RecordTable } from '../../src/store/schema.ts'
import type { Store } from '../../src/store/store.ts'
import { verifyWallet } from '../../src/wallet/wallet.ts'

/** Figures of a sound store file. */
export interface StoreProof {
  /** Rows of all tables with records. */
  rows: number
  /**
   * Transfers of the ledger, and its head. Null for a store of an earlier version, whose ledger this one cannot read, and for
   * one whose archives are not all there.
   */
  ledger: { transfers: number; head: string } | null
  /** Faults of archives, which are no part of the file, so that the ledger cannot be proved without them; null otherwise. */
  withoutArchives: string | null
  /** Migrations that the store is behind this version. */
  stepsBehind: number
}

/**
 * Proves a SQLite file that no process writes to: its pages and indexes, and the ledger from its first transfer on.
 * Writes nothing.
 *
 * @throws GazewayError `store_corrupt` naming what is wrong, and as `openForReading`
 */
export async function proveStore(file: string): Promise<StoreProof> {
  const { store, stepsBehind } = await openForReading(file)
  try {
    const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check(1)`.execute(store.db)
    const found = rows[0]?.integrity_check ?? ''
    if (found !== 'ok') throw damaged(file, found)
    if (stepsBehind > 0) return { rows: 0, ledger: null, withoutArchives: null, stepsBehind }
    const { transfers, head, archives, faults } = await verifyWallet(store)
    if (archives === null)
      return { rows: await countRows(store), ledger: null, withoutArchives: faults.join(' '), stepsBehind }
    const all = [...faults, ...(await escrowFaults(store))]
    if (all.length > 0) throw damaged(file, all.join(' '))
    return { rows: await countRows(store), ledger: { transfers, head }, withoutArchives: null, stepsBehind }
  } finally {
    await store.close()
  }
}

const damaged = (file: string, found: string) =>
  new GazewayError('store_corrupt', `${file}: not sound (${found}). Use an earlier backup.`)

async function countRows({ db }: Store): Promise<number> {
  let rows = 0
  for (const table of Object.keys(RECORD_TABLES) as RecordTable[]) {
    const counted = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(db)
    rows += counted.rows[0]?.count ?? 0
  }
  return rows
}

/** Describes a proof in words. */
export function proven({ rows, ledger, withoutArchives, stepsBehind }: StoreProof): string {
  if (withoutArchives !== null)
    return `the file is sound, with rows: ${rows}; its ledger is proven by gazeway doctor once its archives are there: ${withoutArchives}`
  if (ledger === null)
    return `the file is sound; migrations behind this version: ${stepsBehind}; its ledger is proven once it is migrated`
  return `the file is sound, with rows: ${rows}; ledger transfers, in order: ${ledger.transfers}; head ${ledger.head.slice(0, 16)}`
}
