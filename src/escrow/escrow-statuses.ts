import type { Transition } from '../store/status-table.ts'

/** Where an escrow stands. */
export const ESCROW_STATUSES = ['locked', 'released', 'settled', 'expired', 'refunded'] as const
export type EscrowStatus = (typeof ESCROW_STATUSES)[number]

/** What can happen to an escrow. */
export type EscrowEvent = 'lock' | 'release' | 'settle' | 'expire' | 'refund'

/** The life of an escrow: what is not in this table does not happen. */
export const ESCROW_TRANSITIONS: ReadonlyArray<Transition<EscrowStatus, EscrowEvent>> = [
  { event: 'lock', from: null, to: 'locked', when: 'the payer has the money' },
  { event: 'release', from: 'locked', to: 'released', when: 'the task is completed and gaze verification passes' },
  { event: 'settle', from: 'released', to: 'settled', when: 'the chain confirms the payment' },
  { event: 'refund', from: 'locked', to: 'refunded', when: 'the task failed or was cancelled' },
  { event: 'expire', from: 'locked', to: 'expired', when: 'its time is over' },
  { event: 'refund', from: 'expired', to: 'refunded', when: 'always' },
]

/** The statuses in which the money is still in escrow; one such escrow a task. */
export const LIVE_STATUSES = ['locked', 'expired'] as const satisfies readonly EscrowStatus[]
