import './review.css'
import { useState } from 'preact/hooks'
import { useVerified } from '../use-verified.ts'
import { PasskeyStep, type Unconfirmed } from './passkey-step.tsx'
import { Refusal } from './review-api.ts'
import { ReviewReading } from './review-reading.tsx'
import type { ReviewState } from './review-state.ts'

/**
 * The page of `gazeway review`: a change to read, then the passkey where one was named, then the end.
 *
 * @param props.onEnded called with the reason once the page may not show the change any longer
 */
export function ReviewPage(props: {
  state: ReviewState
  verify: () => Promise<void>
  onEnded: (because: string) => void
}) {
  const { state, verify, onEnded } = props
  const [isDecided, setDecided] = useState(false)
  const [unconfirmed, setUnconfirmed] = useState<Unconfirmed | null>(null)
  const [silence, setSilence] = useState<string | null>(null)
  useVerified(() => {
    if (isDecided) return
    verify().then(
      () => setSilence(null),
      (error: Error) => {
        if (!(error instanceof Refusal)) setSilence(error.message)
        else if (error.status === 401) onEnded(error.message)
      },
    )
  })
  if (!isDecided)
    return (
      <main class="review-whole">
        {silence !== null && (
          <p class="offline" role="alert">
            {silence}
          </p>
        )}
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
