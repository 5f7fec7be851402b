import type { SettlementMode, Settlements } from '../chain/settlements.ts'
import type { GazeLevel } from '../config/sections/gaze-section.ts'
import { GazewayError } from '../errors.ts'
import type { Evidence } from '../gaze/gaze.ts'
import type { GazeVerifier } from '../gaze/verification.ts'
import { invalidTransition } from '../store/status-table.ts'
import type { Store } from '../store/store.ts'
import type { EscrowRow } from '../store/tables/escrow-tables.ts'
import type { TaskRow } from '../store/tables/tasks-tables.ts'
import { requireAttention, verifyAttention } from './attention-gate.ts'
import { type Caller, found, requireParty } from './escrow-access.ts'
import { type Release, statusAt } from './escrow-record.ts'
import { createTally } from './escrow-tally.ts'
import { lockedRow, release } from './escrow-transfers.ts'
import type { Payees } from './payee.ts'
import { taskStatusAt } from './task-status.ts'

type EscrowTask = Pick<
  TaskRow,
  'id' | 'status' | 'claimed_by' | 'lease_expires_at' | 'claimed_at' | 'completed_at' | 'gaze_level'
>

/**
 * Creates the release of escrows. Slow checks run first. Then the escrow's row is locked, and all that may have changed
 * is checked again. So one of several concurrent releases and refunds wins.
 *
 * @returns the row after the release; unchanged when it was released before
 */
export function createRelease({
  store,
  settlements,
  verifier,
  payees,
  token: tokenOf,
}: {
  store: Store
  settlements: Settlements
  verifier: GazeVerifier
  payees: Payees
  /** Token of an amount, by settlement mode. */
  token: (mode: SettlementMode) => string
}): (input: Release, caller: Caller, at: string) => Promise<EscrowRow> {
  return async ({ escrow_id, attestation_id: attestationId, recipient }, caller, at) => {
    const seen = await store.db.selectFrom('escrows').selectAll().where('id', '=', escrow_id).executeTakeFirst()
    const before = found(seen)
    const task = await taskOf(store, before)
    const named = before.recipient ?? (task.status === 'completed' ? task.claimed_by : null)
    requireParty(before, named, caller)
    if (isReleased(before)) return before
    requireLocked(before, at)
    requireCompleted(task, at)
    const payee = await payees.find(named ?? before.payer, before.settlement_mode as SettlementMode)
    if (recipient !== undefined) requireRecipient(recipient, [named, payee.recipient], before)
    const attention = await verifyAttention(store, verifier, {
      attestationId,
      taskId: task.id,
      evidence: evidenceOf(task, before),
      level: task.gaze_level as GazeLevel | null,
      at,
    })

    return store.write(async (trx) => {
      const row = found(await lockedRow(trx, escrow_id))
      if (isReleased(row)) return row
      requireLocked(row, at)
      await requireAttention(trx, verifier, attention, { usedBy: `release ${row.id}`, at })
      const tally = createTally()
      const released = await release(trx, row, { payee, attestationId, tokenOf, at }, tally)
      if (payee.account === null)
        await settlements.enqueue(trx, { id: row.id, recipient: payee.recipient, micros: row.amount_micros, at })
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

/** Reads the task outside the transaction, because a completed task stays completed. */
function taskOf({ db }: Store, { task_id }: EscrowRow): Promise<EscrowTask> {
  return db
    .selectFrom('tasks')
    .select(['id', 'status', 'claimed_by', 'lease_expires_at', 'claimed_at', 'completed_at', 'gaze_level'])
    .where('id', '=', task_id)
    .executeTakeFirstOrThrow()
}

function requireCompleted(task: EscrowTask, at: string): void {
  if (task.status === 'completed') return
  throw new GazewayError(
    'task_not_completed',
    `Task ${task.id} is ${taskStatusAt(task, at)}; an escrow is released once its task is completed.`,
    { param: 'escrow_id' },
  )
}

/** Accepted records: the claimant's from its work on the task, or the payer's from its review of the result. */
function evidenceOf({ claimed_by, claimed_at, completed_at }: EscrowTask, { payer }: EscrowRow): Evidence[] {
  if (claimed_by === null || claimed_at === null || completed_at === null) return []
  return [
    {
      description: `records that the claimant stored between its claim, at ${claimed_at}, and the completion, at ${completed_at}`,
      callerId: claimed_by,
      from: claimed_at,
      until: completed_at,
    },
    {
      description: `records that the payer has stored since the completion, at ${completed_at}`,
      callerId: payer,
      from: completed_at,
      until: null,
    },
  ]
}

/**
 * Checks that a release names the escrow's recipient, by id or by address.
 *
 * @throws GazewayError `recipient_fixed` for another recipient
 */
function requireRecipient(asked: string, fixed: ReadonlyArray<string | null>, { id }: EscrowRow): void {
  if (fixed.includes(asked)) return
  throw new GazewayError(
    'recipient_fixed',
    `Escrow ${id} pays ${fixed[0]}. The recipient is fixed when the money is locked, otherwise it is the key that completed ` +
      'the task. Omit recipient.',
    { param: 'recipient' },
  )
}
