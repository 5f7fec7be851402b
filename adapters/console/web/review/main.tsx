import './review.css'
import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Enrolment } from './enrolment.tsx'
import { type CommandReview, forgetToken, type OpenEnrolment, openPage } from './review-api.ts'
import { ReviewPage } from './review-page.tsx'
import { createReviewState, type ReviewState } from './review-state.ts'

/** Opens what the link leads to, and shows it. */
function Review() {
  const [opened, setOpened] = useState<{ state: ReviewState; verify: CommandReview['verify'] } | null>(null)
  const [enrolment, setEnrolment] = useState<OpenEnrolment | null>(null)
  const [fault, setFault] = useState<string | null>(null)
  useEffect(() => {
    openPage()
      .then((page) => {
        if ('enrol' in page) setEnrolment(page)
        else setOpened({ state: createReviewState(page), verify: page.verify })
      })
      .catch((error: Error) => setFault(error.message))
  }, [])
  if (enrolment !== null) return <Enrolment opened={enrolment} />
  const end = (because: string) => {
    forgetToken()
    setOpened(null)
    setFault(because)
  }
  if (opened !== null) return <ReviewPage {...opened} onEnded={end} />
  return (
    <main class="review-alone">
      <p role={fault === null ? 'status' : 'alert'}>{fault ?? 'Loading the change …'}</p>
    </main>
  )
}

const root = document.getElementById('app')
if (root) render(<Review />, root)
