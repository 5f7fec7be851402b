import type { MeteredCallRow } from '../store/tables/wallet-tables.ts'
import { accountOf } from './accounts.ts'
import type { NewEntry } from './ledger.ts'

/** What a receipt says that was moved. */
export type CapturedMoney = Pick<MeteredCallRow, 'caller_id' | 'held_micros' | 'margin_micros' | 'upstream_cost_micros'>

/** The entries of a capture: the cost and the margin out of what was held, and the rest back to the caller. */
export function captureEntries(receipt: CapturedMoney): NewEntry[] {
  const { caller_id: caller, held_micros: held, margin_micros: margin, upstream_cost_micros: cost } = receipt
  const entries = [
    { account: accountOf('held', caller), micros: -held },
    { account: accountOf('revenue', caller), micros: margin },
    { account: accountOf('upstream_cost', caller), micros: cost },
    { account: accountOf('caller', caller), micros: held - margin - cost },
  ]
  // Where calls are free, none is left.
  return entries.filter(({ micros }) => micros !== 0)
}
