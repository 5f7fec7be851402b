import { readBudgets } from '../../identity/budgets.ts'
import type { Store } from '../../store/store.ts'
import type { Micros } from '../../text/money.ts'
import { lockSpending } from './budgets.ts'
import { debtBy, debtsSince, forgiven } from './debts.ts'
import { dayOf, readSpending } from './spending.ts'

/**
 * Forgives the debts of the budgets of a key or group: as much of its usage beyond reservations counts in none of them
 * any more. What was spent and charged stays.
 *
 * @param owner id of a key or group that exists
 * @returns the largest of the debts; 0 when there were none
 */
export function forgiveDebts(store: Store, owner: string, now: Date): Promise<Micros> {
  const day = dayOf(now.toISOString())
  return store.write(async (trx) => {
    if (!(await lockSpending(trx, [owner]))) return 0
    const budgets = (await readBudgets(trx, [owner])).get(owner) ?? []
    const spent = await readSpending(trx, [owner], debtsSince(day))
    const debt = Math.max(0, ...budgets.map((budget) => debtBy(spent, budget, day)))
    for (const { day: of, forgiven_micros } of forgiven(spent, budgets, day))
      await trx
        .updateTable('spending')
        .set({ forgiven_micros })
        .where('owner', '=', owner)
        .where('day', '=', of)
        .execute()
    return debt
  })
}
