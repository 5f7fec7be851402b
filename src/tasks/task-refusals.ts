import { GazewayError } from '../errors.ts'
import { taskStatusAt } from '../escrow/task-status.ts'
import { invalidTransition, statusesBefore } from '../store/status-table.ts'
import type { TaskRow } from '../store/tables/tasks-tables.ts'
import { TASK_TRANSITIONS, type TaskEvent } from './task-statuses.ts'

/** @throws GazewayError `not_found` */
export function foundTask<Row>(row: Row | undefined): Row {
  if (row !== undefined) return row
  throw new GazewayError('not_found', 'There is no task with this id.', { param: 'id' })
}

/** The refusal of an event that is out of order at `at`, with the status that the task then has. */
export function outOfOrder(row: TaskRow, event: TaskEvent, verb: string, at: string): GazewayError {
  return invalidTransition({
    named: `Task ${row.id}`,
    status: taskStatusAt(row, at),
    verb,
    accepted: statusesBefore(TASK_TRANSITIONS, event),
  })
}

/** The refusal of someone who is not the claimant of a claimed task. */
export const notTheClaimant = (row: TaskRow): GazewayError =>
  new GazewayError(
    'forbidden',
    `Task ${row.id} is claimed by another; only its claimant, with the key, the agent name and the claim_token of the ` +
      'present claim, can go on with it.',
  )
