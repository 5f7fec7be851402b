import type { TaskRow } from '../store/tables/tasks-tables.ts'

/** Where a task stands. */
export const TASK_STATUSES = ['blocked', 'open', 'claimed', 'completed', 'failed', 'cancelled'] as const
export type TaskStatus = (typeof TASK_STATUSES)[number]

/** The status of a row at `at`: one whose lease is over is open, whether or not its row says so yet. */
export function taskStatusAt(row: Pick<TaskRow, 'status' | 'lease_expires_at'>, at: string): TaskStatus {
  const lapsed = row.status === 'claimed' && row.lease_expires_at !== null && row.lease_expires_at <= at
  return lapsed ? 'open' : (row.status as TaskStatus)
}
