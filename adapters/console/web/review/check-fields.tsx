import './review.css'
import type { Check } from '../../../../src/review/checks.ts'
import { SelectField, TextField } from '../components/fields.tsx'
import { visible } from './line-text.tsx'
import type { ReviewState } from './review-state.ts'

/** Fields for the answers to attention checks, with what they are for. */
export function CheckFields(props: {
  state: ReviewState
  answers: readonly string[]
  onAnswer: (at: number, answer: string) => void
}) {
  const { state, answers, onAnswer } = props
  const { checks } = state.review
  if (checks.length === 0) return null
  return (
    <>
      <p class="hint">
        This review has attention checks, for those in a hurry. The receipt names those that are passed; they raise no
        level.
      </p>
      {checks.map((check, at) => (
        <CheckField
          key={check.kind}
          check={check}
          isMarked={state.marked.value === state.canary}
          answer={answers[at] ?? ''}
          onAnswer={(answer) => onAnswer(at, answer)}
        />
      ))}
    </>
  )
}

function CheckField(props: { check: Check; isMarked: boolean; answer: string; onAnswer: (answer: string) => void }) {
  const { check, isMarked, answer, onAnswer } = props
  if (check.kind === 'canary')
    return (
      <p role="status" class={isMarked ? '' : 'warn'}>
        The hunk at line {check.hunk.rows[0]?.new} of {visible(check.path)} was a check. It is no part of the change,
        and in no figure of the receipt.{' '}
        {isMarked ? 'You marked it.' : 'You did not mark it, and the receipt will say so.'}
      </p>
    )
  if (check.kind === 'retype')
    return (
      <TextField
        label={
          <>
            Type line {check.line} of {visible(check.path)} again
          </>
        }
        autoComplete="off"
        spellcheck={false}
        maxLength={1000}
        value={answer}
        onInput={onAnswer}
      />
    )
  return (
    <SelectField
      label={<>Which of these lines does the change of {visible(check.path)} have?</>}
      value={answer}
      options={[{ value: '', label: 'I do not know' }, ...check.options]}
      onChange={onAnswer}
    />
  )
}
