import { useCallback, useEffect, useState } from 'preact/hooks'
import type { ReviewWithParts } from '../../../../../src/review/review-record.ts'
import { api, PATIENT_MS } from '../../api.ts'
import { ErrorNote, Loading, notify, Page } from '../../components/content.ts'
import { ReviewReading } from '../../review/review-reading.tsx'
import { createReviewState, type ReviewState } from '../../review/review-state.ts'
import { session } from '../../signed-in.ts'
import { type Payment, paymentFor, readingIn } from './console-reading.ts'
import { ReceiptView } from './receipt-view.tsx'
import { ALL_REVIEWS, signedReview } from './signed-review.ts'

/** A review as it was loaded. */
interface Loaded {
  review: ReviewWithParts
  payment: Payment | null
  /** State of the reading view, while this key may read and decide. */
  state: ReviewState | null
}

/** One review: to read and decide for the key that began it, else its receipt. */
export function ReviewView({ id }: { id: string }) {
  const [loaded, setLoaded] = useState<Loaded | null>(null)
  const [error, setError] = useState<unknown>(null)
  const load = useCallback(async () => {
    setError(null)
    await loadReview(id).then(setLoaded, setError)
  }, [id])
  useEffect(() => void load(), [load])

  const pay = async ({ review, payment }: Pick<Loaded, 'review' | 'payment'>) => {
    if (payment === null) return
    await payment.pay(review.id)
    notify(`${payment.amount} moved to ${payment.to}.`)
    await load()
  }
  /** Shows the receipt, and pays what an approval pays. */
  const onDecided = async () => {
    try {
      const decided = await loadReview(id)
      setLoaded(decided)
      if (signedReview(decided.review)?.decision === 'approve') await pay(decided)
    } catch (fault) {
      setError(fault)
    }
  }

  if (loaded === null)
    return (
      <Page title="Review" back={ALL_REVIEWS}>
        {error === null ? <Loading what="the change" /> : <ErrorNote error={error} onRetry={() => void load()} />}
      </Page>
    )
  const { state, review, payment } = loaded
  if (state !== null) return <ReviewReading state={state} onDecided={() => void onDecided()} />
  return <ReceiptView review={review} payment={payment} fault={error} onPay={() => pay(loaded)} />
}

async function loadReview(id: string): Promise<Loaded> {
  const review = await api.get<ReviewWithParts>(`/api/reviews/${encodeURIComponent(id)}`, { timeoutMs: PATIENT_MS })
  const isOwn = review.caller_id === session.value?.id
  const payment = isOwn && review.task_id !== null ? await paymentFor(review.task_id) : null
  const state = isOwn && review.decided_at === null ? createReviewState(readingIn(review, payment)) : null
  return { review, payment, state }
}
