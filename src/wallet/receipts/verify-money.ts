import type { Store } from '../../store/store.ts'
import type { ArchivedCalls } from './archived-calls.ts'
import { createChargeCheck } from './charge-check.ts'
import { receiptsByCaller } from './receipts-by-caller.ts'
import { createSpendingCheck } from './spending-check.ts'

/**
 * Compares receipts with the transfers that took their money, and with the spending of their days. Reads the receipts
 * once, from one snapshot, so calls may run meanwhile.
 *
 * @param archived what archives say about calls that the store may not have any more
 * @param limit most faults of a kind
 * @returns faults of transfers, and of spending
 */
export function moneyFaults(
  store: Store,
  archived: ArchivedCalls,
  limit: number,
): Promise<{ charges: string[]; spending: string[] }> {
  return store.snapshot(async (db) => {
    const charges = createChargeCheck(db, store.engine, archived.until)
    const spending = createSpendingCheck(db, archived, limit)
    for await (const receipts of receiptsByCaller(db, archived.until)) {
      await charges.add(receipts)
      await spending.add(receipts)
    }
    return { charges: await charges.faults(limit), spending: await spending.faults() }
  })
}
