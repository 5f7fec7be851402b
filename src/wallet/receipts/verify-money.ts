import type { Store } from '../../store/store.ts'
import { createChargeCheck } from './charge-check.ts'
import { receiptsByCaller } from './receipts-by-caller.ts'
import { createSpendingCheck } from './spending-check.ts'

/**
 * Compares receipts with the transfers that took their money, and with the spending of their days. Reads the receipts
 * once, from one snapshot, so calls may run meanwhile.
 *
 * @param limit most faults of a kind
 * @returns faults of transfers, and of spending
 */
export function moneyFaults(store: Store, limit: number): Promise<{ charges: string[]; spending: string[] }> {
  return store.snapshot(async (db) => {
    const charges = createChargeCheck(db, store.engine)
    const spending = createSpendingCheck(db, limit)
    for await (const receipts of receiptsByCaller(db)) {
      await charges.add(receipts)
      await spending.add(receipts)
    }
    return { charges: await charges.faults(limit), spending: await spending.faults() }
  })
}
