import type { Task } from '../../../../../src/tasks/task-record.ts'
import type { Tone } from '../../components/components.ts'

export type TaskStatus = Task['status']

/** The colour of a task's status. */
export const TASK_TONES: Record<TaskStatus, Tone> = {
  blocked: 'neutral',
  open: 'accent',
  claimed: 'warn',
  completed: 'good',
  failed: 'bad',
  cancelled: 'neutral',
}

/** Where a task may stand. */
export const TASK_STATUSES = Object.keys(TASK_TONES) as TaskStatus[]

/** Whether a task may still be done. */
export const isUnfinished = ({ status }: Pick<Task, 'status'>): boolean =>
  status === 'blocked' || status === 'open' || status === 'claimed'
