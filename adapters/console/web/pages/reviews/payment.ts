import type { Escrow } from '../../../../../src/escrow/escrow-record.ts'
import type { Task } from '../../../../../src/tasks/task-record.ts'
import { api } from '../../api.ts'
import { shortId, usdExact } from '../../format.ts'
import type { List } from '../../paging.ts'
import { session } from '../../signed-in.ts'

/** A locked reward that the signed-in key releases by a review of the task's result. */
export interface Payment {
  task: Task
  /** Amount with its sign: `$5.00`. */
  amount: string
  /** Recipient in words. */
  to: string
  /** Releases it. @throws ApiError `gaze_verification_failed` with the reasons when the review does not suffice */
  pay(reviewId: string): Promise<void>
}

/** Finds what a review of a task's result releases. Null when nothing is locked, or another key pays. */
export async function paymentFor(taskId: string): Promise<Payment | null> {
  const [task, { items }] = await Promise.all([
    api.get<Task>(`/api/tasks/${encodeURIComponent(taskId)}`),
    api.get<List<Escrow>>(`/api/wallet/escrow?task_id=${encodeURIComponent(taskId)}&limit=20`),
  ])
  const escrow = items.find(({ status, payer }) => status === 'locked' && payer === session.value?.id)
  if (task.review === null || task.status !== 'completed' || escrow === undefined) return null
  const recipient = escrow.recipient ?? task.claimed_by ?? escrow.payer
  return {
    task,
    amount: usdExact(escrow.amount_usd),
    to: recipient === task.claimed_by ? (task.agent ?? shortId(recipient)) : shortId(recipient),
    async pay(attestation_id) {
      await api.post<Escrow>('/api/wallet/escrow/release', { escrow_id: escrow.id, attestation_id })
    },
  }
}
