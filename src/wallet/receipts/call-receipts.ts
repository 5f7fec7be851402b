import type { Store } from '../../store/store.ts'
import { type StatementLine, toLine } from '../ledger/transfer-list.ts'
import type { ReceiptRecord } from './receipt.ts'
import { RECEIPT_COLUMNS, toReceiptRecord } from './receipts.ts'

/** Money of some calls: what they cost, and the ledger transfers that moved it. */
export interface CallMoney {
  receipts: ReceiptRecord[]
  /** Transfers of the receipts. One may be for several calls of a key. */
  transfers: StatementLine[]
}

/** Reads the receipts of calls by their ids, and the transfers that took their money. */
export async function moneyOfCalls({ db }: Store, callIds: readonly string[]): Promise<CallMoney> {
  const rows = await db
    .selectFrom('metered_calls')
    .select([...RECEIPT_COLUMNS, 'transfer'])
    .where('call_id', 'in', [...callIds])
    .execute()
  const keys = [...new Set(rows.flatMap(({ transfer }) => transfer ?? []))]
  const transfers =
    keys.length === 0 ? [] : await db.selectFrom('ledger_transfers').selectAll().where('key', 'in', keys).execute()
  return {
    receipts: rows.map((row) => toReceiptRecord({ ...row, caller_name: null, session: null })),
    transfers: transfers.map((row) => toLine(row, row.chain)),
  }
}
