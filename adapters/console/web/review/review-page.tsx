import './review.css'
import { useState } from 'preact/hooks'
import { PasskeyStep, type Unconfirmed } from './passkey-step.tsx'
import { ReviewReading } from './review-reading.tsx'
import type { ReviewState } from './review-state.ts'

/** The page of `gazeway review`: a change to read, then the passkey where one was named, then the end. */
export function ReviewPage({ state }: { state: ReviewState }) {
  const [isDecided, setDecided] = useState(false)
  const [unconfirmed, setUnconfirmed] = useState<Unconfirmed | null>(null)
  if (!isDecided)
    return (
      <main class="review-whole">
        <ReviewReading
          state={state}
          onDecided={(receipt) => {
            setUnconfirmed(receipt)
            setDecided(true)
          }}
        />
      </main>
    )
  if (unconfirmed !== null)
    return <PasskeyStep state={state} unconfirmed={unconfirmed} onDone={() => setUnconfirmed(null)} />
  return (
    <main class="review-alone">
      <h1>Decided</h1>
      <p role="status">The terminal says where the receipt is, and how to sign it. You can close this page.</p>
    </main>
  )
}
