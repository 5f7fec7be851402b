import './review.css'
import { useState } from 'preact/hooks'
import type { DecideReview } from '../../../../src/review/review-record.ts'
import { Modal } from './modal.tsx'
import { linesRead, type ReviewState, standingOf } from './review-state.ts'

type Decision = DecideReview['decision']

const DECISIONS = {
  approve: 'Approve',
  request_changes: 'Request changes',
  comment: 'Comment only',
} as const satisfies Record<Decision, string>

/** Asks for the decision, and says what the receipt will say. */
export function DecisionDialog(props: {
  state: ReviewState
  flush: () => Promise<void>
  onClose: () => void
  onDecided: () => void
}) {
  const { state, flush, onClose, onDecided } = props
  const [decision, setDecision] = useState<Decision>('approve')
  const [reviewer, setReviewer] = useState(state.reviewer)
  const [text, setText] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [fault, setFault] = useState<string | null>(null)

  const decide = async () => {
    setBusy(true)
    try {
      // What was read while nobody answered is lost, and no reason to lose the decision too.
      await flush().catch(() => {})
      const summary = text.trim() === '' ? [] : [{ path: null, line: null, text }]
      const comments = [...state.comments.value, ...summary]
      await state.decide({ reviewer, decision, comments, acknowledged: [...state.acknowledged.value] })
      onDecided()
    } catch (error) {
      setFault((error as Error).message)
      setBusy(false)
    }
  }

  return (
    <Modal title="Decide" onClose={onClose}>
      <form
        class="decide-form"
        onSubmit={(event) => {
          event.preventDefault()
          if (!isBusy) decide()
        }}
      >
        <Choice chosen={decision} onChoose={setDecision} />
        <label class="field">
          Reviewer, as in the allowed signers
          <input
            required
            maxLength={256}
            value={reviewer}
            onInput={(event) => setReviewer(event.currentTarget.value)}
          />
        </label>
        <label class="field">
          About all of it
          <textarea rows={3} maxLength={10_000} value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <Says state={state} />
        {fault !== null && (
          <p class="bad" role="alert">
            {fault}
          </p>
        )}
        <div class="actions">
          <button type="button" onClick={onClose}>
            Go on reading
          </button>
          <button type="submit" class="primary" aria-disabled={isBusy}>
            {DECISIONS[decision]}
          </button>
        </div>
      </form>
    </Modal>
  )
}

function Choice({ chosen, onChoose }: { chosen: Decision; onChoose: (decision: Decision) => void }) {
  return (
    <fieldset class="decisions" aria-label="Decision">
      {(Object.keys(DECISIONS) as Decision[]).map((each) => (
        <label key={each}>
          <input type="radio" name="decision" checked={chosen === each} onChange={() => onChoose(each)} />
          {DECISIONS[each]}
        </label>
      ))}
    </fieldset>
  )
}

function Says({ state }: { state: ReviewState }) {
  const { lines, seen } = linesRead(state, state.parts.keys())
  const unread = state.parts.filter((_, index) => standingOf(state, index) !== 'read').length
  return (
    <p class="hint">
      The receipt will say: {seen.toLocaleString()} of {lines.toLocaleString()} lines read,{' '}
      {unread === 0
        ? 'all hunks'
        : `${unread.toLocaleString()} of ${state.parts.length.toLocaleString()} hunks not read to their end`}
      . “Read” says that lines were on the screen for long enough, and nothing of what was understood.
    </p>
  )
}
