import './review.css'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../components/fields.tsx'
import { submitByKeys } from '../components/keyboard-focus.ts'
import { visible } from './line-text.tsx'
import type { ReviewState } from './review-state.ts'

/** Comments on a path, within these lines where it has some. */
export function Comments({ state, path, lines }: { state: ReviewState; path: string; lines: [number, number] | null }) {
  const own = state.comments.value.filter(
    ({ path: at, line }) => at === path && (lines === null || line === null || (lines[0] <= line && line <= lines[1])),
  )
  if (own.length === 0) return null
  return (
    <ul class="comments">
      {own.map((comment) => (
        <li key={comment}>
          {comment.line !== null && <b>Line {comment.line}: </b>}
          {visible(comment.text)}
          <Button size="small" tone="quiet" tabIndex={-1} onClick={() => remove(state, comment)} children="Remove" />
        </li>
      ))}
    </ul>
  )
}

function remove({ comments }: ReviewState, comment: ReviewState['comments']['value'][number]): void {
  comments.value = comments.value.filter((one) => one !== comment)
}

/** Form for a comment on a line. Escape closes it. */
export function CommentForm(props: { state: ReviewState; path: string; line: number | null; onClose: () => void }) {
  const { state, path, onClose } = props
  const [text, setText] = useState('')
  const field = useRef<HTMLTextAreaElement>(null)
  useLayoutEffect(() => field.current?.focus(), [])
  const [line, setLine] = useState(props.line === null ? '' : String(props.line))
  const add = () => {
    if (text.trim() === '') return
    state.comments.value = [...state.comments.value, { path, line: line === '' ? null : Number(line), text }]
    onClose()
  }
  return (
    <form
      class="comment-form"
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose()
        else submitByKeys(event)
      }}
      onSubmit={(event) => {
        event.preventDefault()
        add()
      }}
    >
      {props.line !== null && (
        <label>
          Line
          <input type="number" min={1} required value={line} onInput={(event) => setLine(event.currentTarget.value)} />
        </label>
      )}
      <label class="wide">
        Comment
        <textarea
          rows={3}
          maxLength={10_000}
          value={text}
          ref={field}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <div class="actions">
        <Button onClick={onClose} children="Cancel" />
        <Button type="submit" tone="primary" children="Add" />
      </div>
    </form>
  )
}
