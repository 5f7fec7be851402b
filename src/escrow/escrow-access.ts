import type { Kysely, Transaction } from 'kysely'
import { GazewayError } from '../errors.ts'
import type { Identity } from '../identity/identity.ts'
import { storedTerms } from '../review/task-review.ts'
import type { Schema } from '../store/schema.ts'
import { invalidTransition } from '../store/status-table.ts'
import type { EscrowRow } from '../store/tables/escrow-tables.ts'
import { statusAt } from './escrow-record.ts'

/** The calling key: its id, scopes and wallet. */
export type Caller = Pick<Identity, 'id' | 'scopes' | 'wallet'>

/** The key that escrows are shown to. */
export type Viewer = Pick<Caller, 'id' | 'wallet'>

/**
 * Admits the payer and the recipient of an escrow, and the creator and the claimant of its task.
 *
 * @throws GazewayError `not_found` for everyone else, as for an escrow that does not exist
 */
export async function requireSeen(
  db: Kysely<Schema>,
  { payer, recipient, task_id }: EscrowRow,
  { id, wallet }: Viewer,
): Promise<void> {
  if (payer === id || (recipient !== null && (recipient === id || recipient === wallet))) return
  const task = await db
    .selectFrom('tasks')
    .select(['creator', 'claimed_by'])
    .where('id', '=', task_id)
    .executeTakeFirst()
  if (task?.creator !== id && task?.claimed_by !== id) found(undefined)
}

/**
 * Finds a task that the caller may lock money for. Locks its row until the transaction ends.
 *
 * @returns the key that completed the task, null when none has, and the review that releases its reward, from `termsOf`
 */
export async function requireFundable(
  trx: Transaction<Schema>,
  taskId: string,
  caller: Caller,
): Promise<{ completedBy: string | null; terms: string | null }> {
  const task = await trx
    .selectFrom('tasks')
    .select(['status', 'creator', 'claimed_by', 'review'])
    .where('id', '=', taskId)
    .forUpdate()
    .executeTakeFirst()
  if (task === undefined) throw new GazewayError('not_found', 'There is no task with this id.', { param: 'task_id' })
  if (task.creator !== caller.id && !caller.scopes.has('admin'))
    throw new GazewayError('forbidden', 'Only the creator of a task, or an admin, can lock a reward for it.')
  if (task.status === 'failed' || task.status === 'cancelled')
    throw new GazewayError('invalid_transition', `Task ${taskId} is ${task.status}; no reward can be locked for it.`)
  return { completedBy: task.status === 'completed' ? task.claimed_by : null, terms: storedTerms(task.review) }
}

/**
 * Admits the payer of an escrow, and admins.
 *
 * @throws GazewayError `forbidden` for everyone but the payer and admins
 */
export function requirePayer({ payer }: Pick<EscrowRow, 'payer'>, caller: Caller): void {
  if (payer === caller.id || caller.scopes.has('admin')) return
  throw new GazewayError('forbidden', 'Only the payer of an escrow, or an admin, can refund it.')
}

/**
 * Admits the payer and the recipient of an escrow, and admins.
 *
 * @param recipient key id or address that the escrow pays, when known
 * @throws GazewayError `forbidden` for everyone but the payer, the recipient and admins
 */
export function requireParty(
  { payer }: Pick<EscrowRow, 'payer'>,
  recipient: string | null,
  { id, scopes, wallet }: Caller,
): void {
  const isRecipient = recipient !== null && (recipient === id || recipient === wallet)
  if (payer === id || isRecipient || scopes.has('admin')) return
  throw new GazewayError(
    'forbidden',
    'Only the payer of an escrow, its recipient once the task is completed, or an admin, can release it.',
  )
}

/**
 * Returns the row of an escrow.
 *
 * @throws GazewayError `not_found`
 */
export function found(row: EscrowRow | undefined): EscrowRow {
  if (row) return row
  throw new GazewayError('not_found', 'There is no escrow with this id.', { param: 'escrow_id' })
}

/**
 * Admits escrows that can be refunded.
 *
 * @throws GazewayError `invalid_transition` unless the escrow is expired, or locked for a task that will not be done
 */
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
