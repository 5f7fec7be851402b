import type { Receipt } from '../../../../../src/review/receipt.ts'
import type { ReviewWithParts } from '../../../../../src/review/review-record.ts'
import { api, PATIENT_MS } from '../../api.ts'
import { percent } from '../../format.ts'
import type { OpenReview } from '../../review/review-api.ts'
import type { Payment } from './payment.ts'
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
