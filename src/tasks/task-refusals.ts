import { GazewayError } from '../errors.ts'
import { taskStatusAt } from '../escrow/task-status.ts'
import { invalidTransition, statusesBefore } from '../store/status-table.ts'
import type { TaskRow } from '../store/tables/tasks-tables.ts'
import { TASK_TRANSITIONS, type TaskEvent } from './task-statuses.ts'

/**
 * Returns the row of a task.
 *
 * @throws GazewayError `not_found`
 */
export function foundTask<Row>(row: Row | undefined): Row {
  if (row !== undefined) return row
  throw new GazewayError('not_found', 'There is no task with this id.', { param: 'id' })
}

/** Error for an event that the status at `at` does not allow. */
export function outOfOrder(row: TaskRow, event: TaskEvent, verb: string, at: string): GazewayError {
  return invalidTransition({
    named: `Task ${row.id}`,
    status: taskStatusAt(row, at),
    verb,
    accepted: statusesBefore(TASK_TRANSITIONS, event),
  })
}

/** Error for someone other than the claimant. */
export const notTheClaimant = (row: TaskRow): GazewayError =>
  new GazewayError(
    'forbidden',
    `Task ${row.id} is claimed by another agent. To continue it, send the key, agent name and claim_token of the ` +
      'current claim.',
  )
