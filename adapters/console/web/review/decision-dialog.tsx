import './review.css'
import { useEffect, useState } from 'preact/hooks'
import { reaches } from '../../../../src/gaze/evidence-level.ts'
import type { DecideReview } from '../../../../src/review/review-record.ts'
import type { Comment } from '../../../../src/review/statement.ts'
import { Button, SelectField, TextField } from '../components/fields.tsx'
import { CheckFields } from './check-fields.tsx'
import { Fault, Modal, ReviewerField } from './dialog-parts.tsx'
import { Pace } from './pace.tsx'
import { linesOf } from './part-view.tsx'
import type { Unconfirmed } from './passkey-step.tsx'
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
  /** @param unconfirmed the receipt that a passkey is to confirm; null without one */
  onDecided: (unconfirmed: Unconfirmed | null) => void
}) {
  const { state, flush, onClose, onDecided } = props
  const [decision, setDecision] = useState<Decision>('approve')
  const [reviewer, setReviewer] = useState(state.reviewer)
  const [text, setText] = useState('')
  const own = state.passkeys.filter((passkey) => passkey.reviewer === reviewer)
  const [chosen, setChosen] = useState<string | undefined>(undefined)
  const credentialId = chosen === '' ? undefined : (chosen ?? own[0]?.credential_id)
  const { checks } = state.review
  const [answers, setAnswers] = useState<readonly string[]>(() => checks.map((check) => answerOf(check, state)))
  useEffect(() => {
    state.isDisclosed.value = true
  }, [state])
  const [isBusy, setBusy] = useState(false)
  const [fault, setFault] = useState<string | null>(null)

  const lacking = decision === 'approve' ? lackingFor(state) : null
  const isOff = isBusy || lacking !== null

  const decide = async () => {
    setBusy(true)
    try {
      // What was read while nobody answered is lost, and no reason to lose the decision too.
      await flush().catch(() => {})
      const summary = text.trim() === '' ? [] : [{ path: null, line: null, text }]
      const comments = [...ownComments(state), ...summary]
      const presence = credentialId !== undefined && { credential_id: credentialId }
      const content = {
        reviewer,
        decision,
        comments,
        acknowledged: [...state.acknowledged.value],
        answers: [...answers],
        ...presence,
      }
      const receipt = await state.decide(content)
      onDecided(credentialId === undefined ? null : { receipt, credentialId })
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
          if (!isOff) decide()
        }}
      >
        <Choice chosen={decision} onChoose={setDecision} />
        <ReviewerField reviewer={reviewer} onInput={setReviewer} />
        <TextField label="About all of it" rows={3} maxLength={10_000} value={text} onInput={setText} />
        <CheckFields state={state} answers={answers} onAnswer={(at, answer) => setAnswers(answers.with(at, answer))} />
        {own.length > 0 && (
          <SelectField
            label="Confirm with"
            value={credentialId ?? ''}
            options={[
              ...own.map(({ credential_id: value }) => ({ value, label: `the passkey ${value.slice(0, 8)}` })),
              { value: '', label: 'no passkey' },
            ]}
            onChange={setChosen}
          />
        )}
        <Says state={state} />
        <Pace state={state} />
        {decision === 'approve' && state.approval && <p class="hint">{state.approval.note}</p>}
        {lacking !== null && (
          <p class="warn" role="status">
            {lacking}
          </p>
        )}
        <Fault text={fault} />
        <div class="actions">
          <Button onClick={onClose} children="Go on reading" />
          <Button
            type="submit"
            tone="primary"
            disabled={isOff}
            children={(decision === 'approve' && state.approval?.label) || DECISIONS[decision]}
          />
        </div>
      </form>
    </Modal>
  )
}

/** The hunk that was marked is the answer to a canary; what is asked in the dialog has none yet. */
function answerOf({ kind }: ReviewState['review']['checks'][number], { marked, parts }: ReviewState): string {
  const part = kind === 'canary' && marked.value !== null ? parts[marked.value] : undefined
  return part?.digest ?? ''
}

/** Lists the comments but those on the canary: no line of the change is there. */
function ownComments({ canary, comments, parts }: ReviewState): readonly Comment[] {
  const part = canary === null ? undefined : parts[canary]
  if (part?.kind !== 'hunk') return comments.value
  const [first, last] = linesOf(part)
  return comments.value.filter(({ path, line }) => path !== part.path || line === null || line < first || line > last)
}

/** Says what an approval lacks to have its consequence; null when it may be given. */
function lackingFor(state: ReviewState): string | null {
  const { approval, level } = state
  if (approval === null) return null
  const { lines, seen } = linesRead(state, state.parts.keys())
  if (seen < approval.coverage * lines) return 'Approving is open once enough lines are read.'
  if (reaches(level.value, approval.level)) return null
  return `Approving is open once the level is “${approval.level}”; it is “${level.value}”. Go on reading, at your own pace.`
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
  const own = [...state.parts.keys()].filter((index) => index !== state.canary)
  const unread = own.filter((index) => standingOf(state, index) !== 'read').length
  return (
    <p class="hint">
      The receipt will say: {seen.toLocaleString()} of {lines.toLocaleString()} lines read,{' '}
      {unread === 0
        ? 'all hunks'
        : `${unread.toLocaleString()} of ${own.length.toLocaleString()} hunks not read to their end`}
      . “Read” says that lines were on the screen for long enough, and nothing of what was understood.
    </p>
  )
}
