import './review.css'
import { useState } from 'preact/hooks'
import { Button } from '../components/fields.tsx'
import { Fault, ReviewerField } from './dialog-parts.tsx'
import { makePasskey } from './passkey.ts'
import type { OpenEnrolment } from './review-api.ts'

/** The page that makes a passkey for reviews. */
export function Enrolment({ opened }: { opened: OpenEnrolment }) {
  const [reviewer, setReviewer] = useState(opened.reviewer)
  const [isBusy, setBusy] = useState(false)
  const [isMade, setMade] = useState(false)
  const [fault, setFault] = useState<string | null>(null)

  const make = async () => {
    setBusy(true)
    setFault(null)
    try {
      await opened.enrol({ ...(await makePasskey(reviewer)), reviewer })
      setMade(true)
    } catch (error) {
      setFault((error as Error).message)
      setBusy(false)
    }
  }

  if (isMade)
    return (
      <main class="review-alone">
        <h1>Made</h1>
        <p role="status">The terminal prints what your policy has to enroll. You can close this page.</p>
      </main>
    )
  return (
    <main class="review-alone">
      <h1>A passkey for reviews</h1>
      <form
        class="decide-form"
        onSubmit={(event) => {
          event.preventDefault()
          if (!isBusy) make()
        }}
      >
        <ReviewerField reviewer={reviewer} onInput={setReviewer} />
        <Fault text={fault} />
        <div class="actions">
          <Button type="submit" tone="primary" disabled={isBusy} children="Make a passkey" />
        </div>
      </form>
    </main>
  )
}
