import type { Tone } from '../../components/components.ts'

/** Where a task may stand. */
export const TASK_STATUSES = ['blocked', 'open', 'claimed', 'completed', 'failed', 'cancelled'] as const
export type TaskStatus = (typeof TASK_STATUSES)[number]

/** A task, as `GET /api/tasks` lists it. */
export interface Task {
  id: string
  title: string
  description: string
  reward_usd: number
  capabilities: string[]
  status: TaskStatus
  creator: string
  agent: string | null
  claimed_by: string | null
  result: unknown
  gaze_required: boolean
  depends_on: string[]
  swarm_id: string | null
  escrow_id: string | null
  lease_expires_at: string | null
  reward_expires_at: string | null
  created_at: string
  updated_at: string
}

/** `GET /api/tasks/stats` */
export interface TaskStats {
  total: number
  by_status: Record<TaskStatus, number>
  reward_usd: { locked: number; paid: number; refunded: number }
}

/** The colour of a task's status. */
export const TASK_TONES: Record<TaskStatus, Tone> = {
  blocked: 'neutral',
  open: 'accent',
  claimed: 'warn',
  completed: 'good',
  failed: 'bad',
  cancelled: 'neutral',
}

/** Whether a task may still be done. */
export const isUnfinished = ({ status }: Pick<Task, 'status'>): boolean =>
  status === 'blocked' || status === 'open' || status === 'claimed'
