import type { Keep } from '../idempotency/idempotency.ts'
import type { Store } from '../store/store.ts'
import { newId } from '../text/ids.ts'
import { type Micros, toMicros } from '../text/money.ts'
import { type Caller, requireFundable } from './escrow-access.ts'
import { type Escrow, type NewEscrow, toEscrow } from './escrow-record.ts'
import { createTally } from './escrow-tally.ts'
import { type Funding, lock } from './escrow-transfers.ts'

/** Locks a reward for a task, in one transaction with `keep`. */
export async function fundEscrow(
  { store, now }: { store: Store; now: () => Date },
  { task_id, amount_usd, recipient, ttl_seconds }: NewEscrow,
  { caller, paid, keep }: { caller: Caller; paid: Funding; keep: Keep<Escrow> | undefined },
): Promise<Escrow> {
  const at = now()
  return store.write(async (trx) => {
    const { completedBy, terms } = await requireFundable(trx, task_id, caller)
    const tally = createTally()
    const of = {
      id: newId('esc'),
      taskId: task_id,
      micros: toMicros(amount_usd) as Micros,
      recipient: recipient ?? completedBy,
      terms,
      at: at.toISOString(),
      expiresAt: new Date(at.getTime() + ttl_seconds * 1000).toISOString(),
    }
    const locked = await lock(trx, paid, of, tally)
    await trx
      .updateTable('tasks')
      .set({
        escrow_id: of.id,
        reward_micros: of.micros,
        reward_expires_at: of.expiresAt,
        reward_settlement: locked.settlement_mode,
        updated_at: of.at,
      })
      .where('id', '=', task_id)
      .execute()
    await tally.write(trx)
    const made = toEscrow(locked, of.at, undefined)
    await keep?.(trx, made)
    return made
  })
}
