import type { TaskStatus } from '../escrow/task-status.ts'
import type { Transition } from '../store/status-table.ts'

/** Events of a task. */
export type TaskEvent = 'create' | 'wait' | 'unblock' | 'claim' | 'lapse' | 'complete' | 'fail' | 'cancel' | 'give up'

/** State machine of a task. Transitions outside this table do not happen. */
export const TASK_TRANSITIONS: ReadonlyArray<Transition<TaskStatus, TaskEvent>> = [
  { event: 'create', from: null, to: 'open', when: 'it depends on nothing, or only on completed tasks' },
  { event: 'wait', from: null, to: 'blocked', when: 'it depends on a task that is not completed' },
  { event: 'unblock', from: 'blocked', to: 'open', when: 'the last task that it depends on is completed' },
  { event: 'claim', from: 'open', to: 'claimed', when: 'an agent claims it first' },
  { event: 'lapse', from: 'claimed', to: 'open', when: 'the lease expires; its token becomes invalid' },
  { event: 'complete', from: 'claimed', to: 'completed', when: 'the claimant completes it' },
  { event: 'fail', from: 'claimed', to: 'failed', when: 'the claimant gives up; the reward is refunded' },
  { event: 'cancel', from: 'blocked', to: 'cancelled', when: 'its creator cancels it; the reward is refunded' },
  { event: 'cancel', from: 'open', to: 'cancelled', when: 'its creator cancels it; the reward is refunded' },
  { event: 'cancel', from: 'claimed', to: 'cancelled', when: 'its creator cancels it; the reward is refunded' },
  {
    event: 'give up',
    from: 'blocked',
    to: 'cancelled',
    when: 'a task that it depends on failed or was cancelled; the reward is refunded',
  },
]

/** Statuses of tasks that may still be completed. */
export const UNFINISHED_STATUSES = ['blocked', 'open', 'claimed'] as const satisfies readonly TaskStatus[]
