import type { Settlements } from '../chain/settlements.ts'
import { GazewayError } from '../errors.ts'
import type { GazeVerifier } from '../gaze/verification.ts'
import type { Store } from '../store/store.ts'
import type { EscrowRow } from '../store/tables/escrow.ts'
import type { TaskRow } from '../store/tables/tasks.ts'
import { taskStatusAt } from '../tasks/record.ts'
import { invalidTransition } from '../transitions.ts'
import { type Caller, found, requirePayer } from './access.ts'
import { lookAtAttention, requireAttention } from './attention-gate.ts'
import { lockedRow, release } from './moves.ts'
import type { Payees } from './payee.ts'
import { type Release, statusAt } from './record.ts'
import { createTally } from './tally.ts'

type DoneTask = Pick<TaskRow, 'id' | 'claimed_by'>

/**
 * How escrows are paid out: the checks that need other services or time come first, then what may have changed meanwhile
 * again with the escrow's row locked, so that of a release, a refund and another release at once one happens.
 *
 * @returns the row as it then is; as it was where it had been released before
 */
export function createRelease({
  store,
  settlements,
  verifier,
  payees,
}: {
  store: Store
  settlements: Settlements
  verifier: GazeVerifier
  payees: Payees
}): (input: Release, caller: Caller, at: string) => Promise<EscrowRow> {
  return async ({ escrow_id, attestation_id: attestationId, recipient }, caller, at) => {
    const seen = await store.db.selectFrom('escrows').selectAll().where('id', '=', escrow_id).executeTakeFirst()
    const before = found(seen)
    requirePayer(before, caller)
    if (isReleased(before)) return before
    requireLocked(before, at)
    const task = await doneTask(store, before, at)
    if (before.recipient === null && recipient !== undefined) await payees.check(recipient)
    const payee = await payees.find(chosen(before, recipient), task.claimed_by ?? before.payer)
    const attention = await lookAtAttention(store, verifier, { attestationId, taskId: task.id, at })

    return store.write(async (trx) => {
      const row = found(await lockedRow(trx, escrow_id))
      if (isReleased(row)) return row
      requireLocked(row, at)
      await requireAttention(trx, verifier, attention, { usedBy: `release ${row.id}`, at })
      const tally = createTally()
      const released = await release(trx, row, { payee, attestationId, at }, tally)
      if (settlements.mode === 'evm')
        await settlements.enqueue(trx, { escrowId: row.id, recipient: payee.recipient, micros: row.amount_micros, at })
      await tally.write(trx)
      return released
    })
  }
}

const isReleased = ({ status }: EscrowRow): boolean => status === 'released' || status === 'settled'

function requireLocked(row: EscrowRow, at: string): void {
  const status = statusAt(row, at)
  if (status === 'locked') return
  throw invalidTransition({ named: `Escrow ${row.id}`, status, verb: 'released', accepted: ['locked'] })
}

/** A task that is completed stays so: it may be read outside the transaction. */
async function doneTask({ db }: Store, { task_id }: EscrowRow, at: string): Promise<DoneTask> {
  const task = await db
    .selectFrom('tasks')
    .select(['id', 'status', 'claimed_by', 'lease_expires_at'])
    .where('id', '=', task_id)
    .executeTakeFirstOrThrow()
  if (task.status === 'completed') return task
  throw new GazewayError(
    'task_not_completed',
    `Task ${task.id} is ${taskStatusAt(task, at)}; an escrow is released once its task is completed.`,
    { param: 'escrow_id' },
  )
}

/** The recipient that was named: one that was named when the money was locked stays. */
function chosen({ id, recipient }: EscrowRow, asked: string | undefined): string | null {
  if (recipient === null || asked === undefined || asked === recipient) return recipient ?? asked ?? null
  throw new GazewayError(
    'conflict',
    `Escrow ${id} names another recipient, ${recipient}; it was fixed when it was locked.`,
    {
      param: 'recipient',
    },
  )
}
