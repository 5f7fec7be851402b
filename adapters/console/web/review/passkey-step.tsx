import './review.css'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Receipt } from '../../../../src/review/receipt.ts'
import { Button } from '../components/fields.tsx'
import { Fault } from './dialog-parts.tsx'
import { confirmWith } from './passkey.ts'
import type { ReviewState } from './review-state.ts'

/** A receipt that a passkey is to confirm. */
export interface Unconfirmed {
  receipt: Receipt
  credentialId: string
}

/** Asks for the passkey over the receipt. The review is decided: without it, the receipt counts for less. */
export function PasskeyStep(props: { state: ReviewState; unconfirmed: Unconfirmed; onDone: () => void }) {
  const { state, unconfirmed, onDone } = props
  const asked = useRef<AbortController | null>(null)
  const [fault, setFault] = useState<string | null>(null)

  /** Ends the question that the browser shows, and acts in its place. */
  const attempt = async (act: (signal: AbortSignal) => Promise<void>) => {
    asked.current?.abort()
    asked.current = new AbortController()
    const { signal } = asked.current
    setFault(null)
    try {
      await act(signal)
      onDone()
    } catch (error) {
      if (!signal.aborted) setFault((error as Error).message)
    }
  }
  const confirm = () =>
    attempt(async (signal) => state.confirm(await confirmWith(unconfirmed.credentialId, unconfirmed.receipt, signal)))
  useEffect(() => void confirm(), [])

  return (
    <main class="review-alone">
      <h1>Confirm with your passkey</h1>
      <p>The review is decided. The passkey says that you were there; without it, the level is not “present”.</p>
      <Fault text={fault} />
      <div class="actions">
        <Button onClick={() => attempt(() => state.confirm(null))} children="Go on without it" />
        <Button tone="primary" onClick={confirm} children="Use the passkey" />
      </div>
    </main>
  )
}
