import type { Transition } from '../store/status-table.ts'

/** Status of an escrow. */
export const ESCROW_STATUSES = ['locked', 'released', 'settled', 'expired', 'refunded'] as const
export type EscrowStatus = (typeof ESCROW_STATUSES)[number]

/** Events of an escrow. */
export type EscrowEvent = 'lock' | 'release' | 'settle' | 'expire' | 'refund'

/** State machine of an escrow. Transitions outside this table do not happen. */
export const ESCROW_TRANSITIONS: ReadonlyArray<Transition<EscrowStatus, EscrowEvent>> = [
  { event: 'lock', from: null, to: 'locked', when: 'the payer has the money' },
  { event: 'release', from: 'locked', to: 'released', when: 'the task is completed and gaze verification passes' },
  { event: 'settle', from: 'released', to: 'settled', when: 'the chain confirms the payment' },
  { event: 'refund', from: 'locked', to: 'refunded', when: 'the task failed or was cancelled' },
  { event: 'expire', from: 'locked', to: 'expired', when: 'its lock expires' },
  { event: 'refund', from: 'expired', to: 'refunded', when: 'always' },
]

/** Statuses with money in escrow. A task has at most one such escrow. */
export const LIVE_STATUSES = ['locked', 'expired'] as const satisfies readonly EscrowStatus[]

/** Names for several statuses in filters. */
export const STATUS_GROUPS = ['live', 'paid'] as const

/** Statuses that a filter selects; all without one. */
export function selectedStatuses(filter?: EscrowStatus | (typeof STATUS_GROUPS)[number]): readonly EscrowStatus[] {
  if (filter === undefined) return ESCROW_STATUSES
  if (filter === 'live') return LIVE_STATUSES
  return filter === 'paid' ? ['released', 'settled'] : [filter]
}
