import './review.css'

/** Field for the name of the reviewer. */
export function ReviewerField({ reviewer, onInput }: { reviewer: string; onInput: (reviewer: string) => void }) {
  return (
    <label class="field">
      Reviewer, as in the allowed signers
      <input required maxLength={256} value={reviewer} onInput={(event) => onInput(event.currentTarget.value)} />
    </label>
  )
}
