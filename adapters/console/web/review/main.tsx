import './review.css'
import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Enrolment } from './enrolment.tsx'
import { type OpenEnrolment, openPage } from './review-api.ts'
import { ReviewPage } from './review-page.tsx'
import { createReviewState, type ReviewState } from './review-state.ts'

/** Opens what the link leads to, and shows it. */
function Review() {
  const [state, setState] = useState<ReviewState | null>(null)
  const [enrolment, setEnrolment] = useState<OpenEnrolment | null>(null)
  const [fault, setFault] = useState<string | null>(null)
  useEffect(() => {
    openPage()
      .then((opened) => ('enrol' in opened ? setEnrolment(opened) : setState(createReviewState(opened))))
      .catch((error: Error) => setFault(error.message))
  }, [])
  if (enrolment !== null) return <Enrolment opened={enrolment} />
  if (state !== null) return <ReviewPage state={state} />
  return (
    <main class="review-alone">
      <p role={fault === null ? 'status' : 'alert'}>{fault ?? 'Loading the change …'}</p>
    </main>
  )
}

const root = document.getElementById('app')
if (root) render(<Review />, root)
