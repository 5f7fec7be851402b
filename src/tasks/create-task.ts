import type { Transaction } from 'kysely'
import { GazewayError } from '../errors.ts'
import { createTally } from '../escrow/escrow-tally.ts'
import type { Keep } from '../idempotency/idempotency.ts'
import type { Schema } from '../store/schema.ts'
import { newId } from '../text/ids.ts'
import type { Micros } from '../text/money.ts'
import { toMicros } from '../text/money.ts'
import { insertTask, type TaskMaking } from './insert-task.ts'
import { type NewTask, type Task, toTask } from './task-record.ts'

/** Maximum number of tasks that may depend on one: completing it opens all of them at once. */
const MAX_DEPENDENTS = 1_000

/** Creates a task and locks its reward, in one transaction. Calls `keep` with the task in it. */
export type CreateTask = (input: NewTask, callerId: string, keep?: Keep<Task>) => Promise<Task>

/** Creates the function that creates tasks. */
export function createTaskMaking({ store, now, escrows }: TaskMaking): CreateTask {
  return async (input, callerId, keep) => {
    const { reward_usd, gaze_required, gaze_level, depends_on, ttl_seconds, recipient = null, ...task } = input
    const funding = await escrows.funding(callerId, recipient)
    const at = now()
    return store.write(async (trx) => {
      const tally = createTally()
      const planned = {
        ...task,
        id: newId('task'),
        rewardMicros: toMicros(reward_usd) as Micros,
        gazeRequired: gaze_required,
        gazeLevel: gaze_level,
        recipient,
        dependsOn: depends_on,
        waitingOn: await unfinished(trx, depends_on),
        swarmId: null,
        ttlSeconds: ttl_seconds,
      }
      const row = await insertTask(trx, planned, { funding, creator: callerId, now: at, tally })
      await tally.write(trx)
      const made = toTask(row, row.created_at)
      await keep?.(trx, made)
      return made
    })
  }
}

/**
 * Counts the unfinished tasks among these. Locks their rows, so that none completes before the dependent task exists.
 *
 * @throws GazewayError `validation_failed` for a task that does not exist, failed or was cancelled, or that has too
 *   many dependents
 */
async function unfinished(trx: Transaction<Schema>, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0
  const rows = await trx
    .selectFrom('tasks')
    .select(['id', 'status'])
    .where('id', 'in', ids)
    .orderBy('id')
    .forUpdate()
    .execute()
  const statuses = new Map(rows.map(({ id, status }) => [id, status]))
  for (const id of ids) {
    const status = statuses.get(id)
    if (status === undefined) throw refused(`there is no task ${id}.`)
    if (status === 'failed' || status === 'cancelled')
      throw refused(`task ${id} is ${status} and will never be completed.`)
    if (await isCrowded(trx, id)) throw refused(`${MAX_DEPENDENTS} tasks wait for task ${id} already.`)
  }
  return rows.filter(({ status }) => status !== 'completed').length
}

async function isCrowded(trx: Transaction<Schema>, id: string): Promise<boolean> {
  const [last] = await trx
    .selectFrom('task_dependencies')
    .select('task_id')
    .where('depends_on', '=', id)
    .orderBy('task_id')
    .offset(MAX_DEPENDENTS - 1)
    .limit(1)
    .execute()
  return last !== undefined
}

const refused = (why: string) => new GazewayError('validation_failed', `depends_on: ${why}`, { param: 'depends_on' })
