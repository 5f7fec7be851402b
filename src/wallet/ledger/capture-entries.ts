import type { MeteredCallRow } from '../../store/tables/wallet-tables.ts'
import { accountOf } from './accounts.ts'
import type { NewEntry } from './deposited.ts'

/** Amounts of a receipt. */
export type CapturedMoney = Pick<MeteredCallRow, 'caller_id' | 'held_micros' | 'margin_micros' | 'upstream_cost_micros'>

/** Builds the entries of a capture: cost and margin leave the reservation, the rest returns to the caller. */
export function captureEntries(receipt: CapturedMoney): NewEntry[] {
  const { caller_id: caller, held_micros: held, margin_micros: margin, upstream_cost_micros: cost } = receipt
  const entries = [
    { account: accountOf('held', caller), micros: -held },
    { account: accountOf('revenue', caller), micros: margin },
    { account: accountOf('upstream_cost', caller), micros: cost },
    { account: accountOf('caller', caller), micros: held - margin - cost },
  ]
  // Empty when calls are free.
  return entries.filter(({ micros }) => micros !== 0)
}
