import { sql, type Transaction } from 'kysely'
import { GazewayError } from '../errors.ts'
import type { Caller } from '../escrow/escrow.ts'
import { createTally } from '../escrow/escrow-tally.ts'
import { fixRecipient } from '../escrow/escrow-transfers.ts'
import { type TaskStatus, taskStatusAt } from '../escrow/task-status.ts'
import type { Keep } from '../idempotency/idempotency.ts'
import { namesChange } from '../review/named-change.ts'
import { runBuilt } from '../store/prepared-sql.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { TaskRow } from '../store/tables/tasks-tables.ts'
import { hashClaim } from './claim-task.ts'
import { markCapabilities } from './mark-capabilities.ts'
import { type Completion, type Task, toTask } from './task-record.ts'
import { foundTask, notTheClaimant, outOfOrder } from './task-refusals.ts'
import { UNFINISHED_STATUSES } from './task-statuses.ts'
import { giveUp, openWaiting } from './waiting.ts'

/** Completion and cancellation of tasks. */
export interface Finishing {
  /**
   * Completes or fails a claimed task. Completion opens its dependents and fixes the recipient of its reward. Failure
   * refunds its reward and cancels its dependents. For the claiming key and admins, with the agent's name and, when
   * sent, the token.
   *
   * @param keep called with the ended task in the same transaction
   * @throws GazewayError `not_found`, `forbidden`, `invalid_transition` with the current status, or `validation_failed` for a
   *   result that names no change where a review of it is needed
   */
  complete(id: string, input: Completion, caller: Caller, keep?: Keep<Task>): Promise<Task>
  /**
   * Cancels an unfinished task and its dependents, and refunds their rewards. For its creator and admins.
   *
   * @param keep called with the cancelled task in the same transaction
   * @throws GazewayError as `complete`
   */
  cancel(id: string, caller: Caller, keep?: Keep<Task>): Promise<Task>
}

/** Creates the completion and cancellation of the tasks in `store`. */
export function createFinishing({ store, now }: { store: Store; now: () => Date }): Finishing {
  return {
    async complete(id, input, caller, keep) {
      const at = now().toISOString()
      return store.write(async (trx) => {
        const row = (await finishClaimed(trx, id, input, caller, at)) ?? (await refuse(trx, id, at))
        const tally = createTally()
        tally.move('claimed', input.status)
        await markCapabilities(trx, [row])
        if (input.status === 'completed') {
          if (row.review !== null && !namesChange(input.result)) throw unnamed()
          await openWaiting(trx, id, at, tally)
          await fixRecipient(trx, row)
        } else await giveUp(trx, row, { reason: 'The task failed', at }, tally)
        await tally.write(trx)
        const ended = toTask(row, at)
        await keep?.(trx, ended)
        return ended
      })
    },

    async cancel(id, caller, keep) {
      const at = now().toISOString()
      return store.write(async (trx) => {
        const before = foundTask(
          await trx.selectFrom('tasks').selectAll().where('id', '=', id).forUpdate().executeTakeFirst(),
        )
        if (before.creator !== caller.id && !caller.scopes.has('admin'))
          throw new GazewayError('forbidden', 'Only the creator of a task, or an admin, can cancel it.')
        const status = before.status as TaskStatus
        if (!UNFINISHED_STATUSES.some((unfinished) => unfinished === status))
          throw outOfOrder(before, 'cancel', 'cancelled', at)
        const lapsed = status === 'claimed' && taskStatusAt(before, at) === 'open'
        const row = {
          ...before,
          status: 'cancelled',
          agent: lapsed ? null : before.agent,
          claimed_by: lapsed ? null : before.claimed_by,
          claimed_at: lapsed ? null : before.claimed_at,
          claim_hash: null,
          lease_expires_at: null,
          updated_at: at,
        }
        const { agent, claimed_by, claimed_at, claim_hash, lease_expires_at } = row
        await trx
          .updateTable('tasks')
          .set({ status: 'cancelled', agent, claimed_by, claimed_at, claim_hash, lease_expires_at, updated_at: at })
          .where('id', '=', id)
          .execute()
        const tally = createTally()
        tally.move(status, 'cancelled')
        await markCapabilities(trx, [row])
        await giveUp(trx, row, { reason: 'The task was cancelled', at }, tally)
        await tally.write(trx)
        const ended = toTask(row, at)
        await keep?.(trx, ended)
        return ended
      })
    },
  }
}

/** Ends a live claim in one statement; undefined when it is not live or not the caller's. */
async function finishClaimed(
  trx: Transaction<Schema>,
  id: string,
  { agent, claim_token, result, status }: Completion,
  caller: Caller,
  at: string,
): Promise<TaskRow | undefined> {
  const changed = {
    status,
    result: JSON.stringify(result),
    claim_hash: null,
    lease_expires_at: null,
    completed_at: status === 'completed' ? at : null,
    updated_at: at,
  }
  const anyKey = caller.scopes.has('admin')
  const hash = claim_token === undefined ? null : hashClaim(claim_token)
  const { rows } = await runBuilt<TaskRow>(
    trx,
    `finish task${anyKey ? ' with any key' : ''}${hash === null ? '' : ' with token'}`,
    [...Object.values(changed), id, at, agent, ...(anyKey ? [] : [caller.id]), ...(hash === null ? [] : [hash])],
    () =>
      trx
        .updateTable('tasks')
        .set(changed)
        .where('id', '=', id)
        .where(sql<boolean>`status = 'claimed'`)
        .where('lease_expires_at', '>', at)
        .where('agent', '=', agent)
        .$if(!anyKey, (ending) => ending.where('claimed_by', '=', caller.id))
        .$if(hash !== null, (ending) => ending.where('claim_hash', '=', hash))
        .returningAll()
        .compile(),
  )
  return rows[0]
}

const unnamed = () =>
  new GazewayError(
    'validation_failed',
    'A review of the result pays this task, so the result names one change: {"change": its SHA-256, "base", "head"}, or the ' +
      'change itself. `gazeway review change BASE..HEAD` prints it.',
    { param: 'result' },
  )

/** Explains why a claim could not be ended. @throws GazewayError */
async function refuse(trx: Transaction<Schema>, id: string, at: string): Promise<never> {
  const row = foundTask(await trx.selectFrom('tasks').selectAll().where('id', '=', id).executeTakeFirst())
  if (taskStatusAt(row, at) === 'claimed') throw notTheClaimant(row)
  throw outOfOrder(row, 'complete', 'completed', at)
}
