import type { TaskRow } from '../store/tables/tasks-tables.ts'

/** Status of a task. */
export const TASK_STATUSES = ['blocked', 'open', 'claimed', 'completed', 'failed', 'cancelled'] as const
export type TaskStatus = (typeof TASK_STATUSES)[number]

/** Status of a row at `at`. A claim past its lease counts as open before the row is updated. */
export function taskStatusAt(row: Pick<TaskRow, 'status' | 'lease_expires_at'>, at: string): TaskStatus {
  const lapsed = row.status === 'claimed' && row.lease_expires_at !== null && row.lease_expires_at <= at
  return lapsed ? 'open' : (row.status as TaskStatus)
}
