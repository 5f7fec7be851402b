import type { Store } from '../store/store.ts'
import type { EscrowRow } from '../store/tables/escrow-tables.ts'
import { type Caller, found, requirePayer, requireRefundable } from './escrow-access.ts'
import { createTally } from './escrow-tally.ts'
import { lockedRow, refund } from './escrow-transfers.ts'
import { taskStatusAt } from './task-status.ts'

/** Refunds an escrow. @returns the row after the refund; unchanged when it was refunded before */
export function refundEscrow(
  store: Store,
  id: string,
  { reason, at, caller }: { reason: string | null; at: string; caller: Caller },
): Promise<EscrowRow> {
  return store.write(async (trx) => {
    const held = found(await lockedRow(trx, id))
    requirePayer(held, caller)
    if (held.status === 'refunded') return held
    const task = await trx
      .selectFrom('tasks')
      .select(['status', 'lease_expires_at'])
      .where('id', '=', held.task_id)
      .executeTakeFirstOrThrow()
    requireRefundable(held, { taskStatus: taskStatusAt(task, at), at })
    const tally = createTally()
    const refunded = await refund(trx, held, { reason, at }, tally)
    await tally.write(trx)
    return refunded
  })
}
