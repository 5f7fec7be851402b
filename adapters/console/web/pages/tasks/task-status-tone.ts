import type { Task } from '../../../../../src/tasks/task-record.ts'
import type { Tone } from '../../components/content.ts'

export type TaskStatus = Task['status']

/** Colours of the statuses of tasks. */
export const TASK_TONES: Record<TaskStatus, Tone> = {
  blocked: 'neutral',
  open: 'accent',
  claimed: 'warn',
  completed: 'good',
  failed: 'bad',
  cancelled: 'neutral',
}

/** Statuses of tasks. */
export const TASK_STATUSES = Object.keys(TASK_TONES) as TaskStatus[]

/** Tells whether a task is unfinished. */
export const isUnfinished = ({ status }: Pick<Task, 'status'>): boolean =>
  status === 'blocked' || status === 'open' || status === 'claimed'
