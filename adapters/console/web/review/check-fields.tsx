import './review.css'
import type { Check } from '../../../../src/review/checks.ts'
import { visible } from './line-text.tsx'

/** Fields for the answers to attention checks, with what they are for. */
export function CheckFields(props: {
  checks: readonly Check[]
  answers: readonly string[]
  onAnswer: (at: number, answer: string) => void
}) {
  const { checks, answers, onAnswer } = props
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
          answer={answers[at] ?? ''}
          onAnswer={(answer) => onAnswer(at, answer)}
        />
      ))}
    </>
  )
}

function CheckField(props: { check: Check; answer: string; onAnswer: (answer: string) => void }) {
  const { check, answer, onAnswer } = props
  if (check.kind === 'retype')
    return (
      <label class="field">
        Type line {check.line} of {visible(check.path)} again
        <input
          autoComplete="off"
          spellcheck={false}
          maxLength={1000}
          value={answer}
          onInput={(event) => onAnswer(event.currentTarget.value)}
        />
      </label>
    )
  return (
    <label class="field">
      Which of these lines does the change of {visible(check.path)} have?
      <select value={answer} onChange={(event) => onAnswer(event.currentTarget.value)}>
        <option value="">I do not know</option>
        {check.options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    </label>
  )
}
