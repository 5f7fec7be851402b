import type { Store } from '../../store/store.ts'
import type { LedgerTransferRow, MeteredCallRow } from '../../store/tables/wallet-tables.ts'
import { archivedReceiptsOf } from '../archive/archived-receipts.ts'
import { archivedTransfers } from '../archive/archived-transfers.ts'
import { archivedUntil } from '../archive/archives.ts'
import { accountOf } from '../ledger/accounts.ts'
import { boundsOf } from '../ledger/statement-period.ts'
import { type StatementLine, toLine } from '../ledger/transfer-list.ts'
import type { ReceiptRecord } from './receipt.ts'
import { RECEIPT_COLUMNS, toReceiptRecord } from './receipts.ts'

/** Money of some calls: what they cost, and the ledger transfers that moved it. */
export interface CallMoney {
  receipts: ReceiptRecord[]
  /** Transfers of the receipts. One may be for several calls of a key. */
  transfers: StatementLine[]
}

/** Time of a call before which its receipt cannot be dated, and after which it is not, in milliseconds. */
const BEFORE_MS = 86_400_000
const AFTER_MS = 40 * 86_400_000

/** Reads the receipts of calls by their ids, and the transfers that took their money. Archived ones are found, too. */
export async function moneyOfCalls({ db }: Store, callIds: readonly string[]): Promise<CallMoney> {
  const stored = await db
    .selectFrom('metered_calls')
    .select([...RECEIPT_COLUMNS, 'transfer'])
    .where('call_id', 'in', [...callIds])
    .execute()
  const found = new Set(stored.map(({ call_id }) => call_id))
  const missing = callIds.filter((id) => !found.has(id))
  const archived = missing.length === 0 ? [] : await archivedReceiptsOf(db, missing, timesOf(missing))
  const rows = [...stored, ...archived]
  return {
    receipts: rows.map((row) => toReceiptRecord({ ...row, caller_name: null, session: null })),
    transfers: (await transfersOf(db, rows)).map((row) => toLine(row, row.chain)),
  }
}

/** Times between which the receipts of calls are dated. An id begins with its time; all times for ids of another form. */
function timesOf(ids: readonly string[]): { from?: string; to?: string } {
  const times = ids.map((id) => Number.parseInt(/^call_([0-9a-f]{12})[0-9a-f]{20}$/.exec(id)?.[1] ?? '', 16))
  if (times.some(Number.isNaN)) return {}
  const at = (ms: number) => new Date(ms).toISOString()
  return { from: at(Math.min(...times) - BEFORE_MS), to: at(Math.max(...times) + AFTER_MS) }
}

async function transfersOf(
  db: Store['db'],
  receipts: ReadonlyArray<Pick<MeteredCallRow, 'at' | 'caller_id' | 'transfer'>>,
): Promise<LedgerTransferRow[]> {
  const keys = [...new Set(receipts.flatMap(({ transfer }) => transfer ?? []))]
  if (keys.length === 0) return []
  const stored = await db.selectFrom('ledger_transfers').selectAll().where('key', 'in', keys).execute()
  const found = new Map(stored.map((row) => [row.key, row]))
  const until = await archivedUntil(db)
  for (const { at, caller_id, transfer } of until === null ? [] : receipts) {
    if (transfer === null || found.has(transfer) || at >= (until ?? '')) continue
    const { from, to } = boundsOf(at.slice(0, 7))
    // A transfer is in the chain of its first account.
    for (const kind of ['caller', 'held'] as const)
      for (const row of await archivedTransfers(db, { chain: accountOf(kind, caller_id).id, from, to }))
        if (keys.includes(row.key)) found.set(row.key, row)
  }
  return [...found.values()]
}
