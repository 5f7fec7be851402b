import type { Escrow } from '../../../../../src/escrow/escrow-record.ts'
import type { Receipt } from '../../../../../src/review/receipt.ts'
import type { ReviewWithParts } from '../../../../../src/review/review-record.ts'
import type { Task } from '../../../../../src/tasks/task-record.ts'
import { api, PATIENT_MS } from '../../api.ts'
import { percent, shortId, usdExact } from '../../format.ts'
import type { List } from '../../paging.ts'
import type { OpenReview } from '../../review/review-api.ts'
import { session } from '../../signed-in.ts'
import { changeName } from './signed-review.ts'

/** Opens a review for the reading view, with the signed-in key. @param payment money that an approval moves */
export function readingIn(review: ReviewWithParts, payment: Payment | null): OpenReview {
  const path = `/api/reviews/${review.id}`
  return {
    review,
    reviewer: '',
    title: payment?.task.title ?? changeName(review),
    passkeys: [],
    tracker: null,
    approval: payment && approvalOf(payment),
    sendEvidence: (records) =>
      api.post<ReviewWithParts['reading']>(`${path}/evidence`, { records }, { timeoutMs: PATIENT_MS }),
    decide: (decision) => api.post<Receipt>(`${path}/decision`, decision, { timeoutMs: PATIENT_MS }),
    confirm: async () => {},
  }
}

/** Says what an approval pays, and what it takes. */
function approvalOf({ task, amount, to }: Payment): OpenReview['approval'] {
  const { coverage = 1, level = 'plausible' } = task.review ?? {}
  return {
    label: `Approve and pay ${amount}`,
    note: `Approving pays ${amount} to ${to}. It takes ${percent(coverage)} of the lines read, at the level “${level}”.`,
    coverage,
    level,
  }
}

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
