import type { Transaction } from 'kysely'
import { GazewayError } from '../errors.ts'
import type { Identity } from '../identity/identity.ts'
import type { Schema } from '../store/schema.ts'
import type { EscrowRow } from '../store/tables/escrow.ts'
import { invalidTransition } from '../transitions.ts'
import { statusAt } from './record.ts'

/** Who asks: the id of a key, and what it may do. */
export type Caller = Pick<Identity, 'id' | 'scopes'>

/** Whether the caller may lock money for a task now. Its row stays locked until the transaction ends. */
export async function requireFundable(trx: Transaction<Schema>, taskId: string, caller: Caller): Promise<void> {
  const task = await trx
    .selectFrom('tasks')
    .select(['status', 'creator'])
    .where('id', '=', taskId)
    .forUpdate()
    .executeTakeFirst()
  if (task === undefined) throw new GazewayError('not_found', 'There is no task with this id.', { param: 'task_id' })
  if (task.creator !== caller.id && !caller.scopes.has('admin'))
    throw new GazewayError('forbidden', 'Only the creator of a task, or an admin, can lock a reward for it.')
  if (task.status === 'failed' || task.status === 'cancelled')
    throw new GazewayError('invalid_transition', `Task ${taskId} is ${task.status}; no reward can be locked for it.`)
}

/** @throws GazewayError `forbidden` for everyone but the payer and admins */
export function requirePayer({ payer }: Pick<EscrowRow, 'payer'>, caller: Caller): void {
  if (payer === caller.id || caller.scopes.has('admin')) return
  throw new GazewayError('forbidden', 'Only the payer of an escrow, or an admin, can release or refund it.')
}

/** @throws GazewayError `not_found` */
export function found(row: EscrowRow | undefined): EscrowRow {
  if (row) return row
  throw new GazewayError('not_found', 'There is no escrow with this id.', { param: 'escrow_id' })
}

/** @throws GazewayError `invalid_transition` unless the escrow is expired, or locked for a task that will not be done */
export function requireRefundable(row: EscrowRow, { taskStatus, at }: { taskStatus: string; at: string }): void {
  const status = statusAt(row, at)
  if (status === 'expired') return
  if (status !== 'locked')
    throw invalidTransition({ named: `Escrow ${row.id}`, status, verb: 'refunded', accepted: ['locked', 'expired'] })
  if (taskStatus === 'failed' || taskStatus === 'cancelled') return
  throw new GazewayError(
    'invalid_transition',
    `Escrow ${row.id} is locked and its task is ${taskStatus}; it is refunded once the task failed or was cancelled, or ` +
      `after ${row.expires_at}.`,
  )
}
