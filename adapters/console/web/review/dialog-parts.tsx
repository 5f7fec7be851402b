import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { TextField } from '../components/fields.tsx'

/** Field for the name of the reviewer. */
export const ReviewerField = ({ reviewer, onInput }: { reviewer: string; onInput: (reviewer: string) => void }) => (
  <TextField label="Reviewer, as in the allowed signers" required maxLength={256} value={reviewer} onInput={onInput} />
)

/** Reason why something failed; nothing for null. */
export const Fault = ({ text }: { text: string | null }) =>
  text !== null && <p class="bad" role="alert" children={text} />

/** Dialog over the page. Escape closes it. */
export function Modal(props: { title: string; onClose: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    return () => element?.close()
  }, [])
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={props.onClose}>
      <div class="dialog-head">
        <h2 id={id}>{props.title}</h2>
      </div>
      {props.children}
    </dialog>
  )
}
