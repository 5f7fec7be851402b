import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { BusyAround, Button } from './fields.tsx'
import { type Editing, type FaultOf, type FieldSpecs, Form, FormEnd, FormFields, SubmitForm } from './form.tsx'
import { focusFirst, focusSuccessor } from './keyboard-focus.ts'
import { ErrorNote } from './notes.tsx'
import { useAction } from './use-action.ts'

/**
 * Modal dialog. Escape and its button close it, except while work in it is in progress: closing would hide the result
 * without undoing the work. The focus begins on the first field, and returns to its earlier element at the end.
 */
export function Dialog(props: { title: string; onClose: () => void; children?: ComponentChildren; wide?: boolean }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  const [busy, setBusy] = useState(false)
  const onClose = () => {
    // Browsers close the dialog at the second Escape, even if the first was refused.
    if (busy) dialog.current?.showModal()
    else if (dialog.current) props.onClose()
  }
  useLayoutEffect(() => {
    const element = dialog.current
    const opener = document.activeElement
    element?.showModal()
    // The browser would focus the close button.
    if (element) focusFirst(element)
    return () => {
      // Removing an open dialog would lose the focus.
      element?.close()
      if (opener !== null && !opener.isConnected) focusSuccessor(opener)
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class={props.wide ? 'wide' : undefined}
      aria-labelledby={id}
      onCancel={(event) => busy && event.preventDefault()}
      onClose={onClose}
    >
      <div class="dialog-head">
        <h2 id={id}>{props.title}</h2>
        <Button tone="quiet" size="small" label="Close" disabled={busy} onClick={props.onClose} children="✕" />
      </div>
      <BusyAround.Provider value={setBusy}>{props.children}</BusyAround.Provider>
    </dialog>
  )
}

/**
 * Asks before an action that cannot be undone. With the tone `danger` and without a field, the focus begins on Cancel,
 * so that Enter alone destroys nothing. Nor does Ctrl+Enter, which only submits other forms.
 *
 * @param body consequences, with amounts and names
 * @param action label of the button: the action, not "OK"
 * @param onConfirm its error is shown, and the dialog stays
 */
export function Confirm(props: {
  title: string
  body: ComponentChildren
  action: string
  tone?: 'primary' | 'danger'
  onConfirm: () => Promise<void> | void
  onClose: () => void
}) {
  const { title, body, action, tone = 'danger', onConfirm, onClose } = props
  const { busy, error, run } = useAction()
  const confirm = async () => {
    await onConfirm()
    onClose()
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <Form onSubmit={() => run(confirm)}>
        <div class="confirm-body">{body}</div>
        <ErrorNote error={error} />
        <FormEnd {...{ action, tone, busy }} onCancel={onClose} />
      </Form>
    </Dialog>
  )
}

/**
 * Dialog with a form of one draft.
 *
 * @param initial draft at the beginning; later values are ignored
 * @param isReady tells whether the draft can be sent, from it and the initial one
 * @param onSubmit its error is shown, and the dialog stays
 * @param hint shown after the fields
 * @param children fields after those of `fields`
 */
export function FormDialog<Draft extends object>(props: {
  title: string
  action: string
  initial: Draft
  wide?: boolean
  waiting?: string
  fields?: FieldSpecs<Draft>
  hint?: string
  isReady?: (draft: Draft, initial: Draft) => boolean
  onSubmit: (draft: Draft, initial: Draft) => Promise<void>
  onClose: () => void
  children?: (form: Editing<Draft> & { faultOf: FaultOf }) => ComponentChildren
}) {
  const { title, action, wide = false, waiting, fields = [], hint, isReady = () => true, onSubmit, onClose } = props
  const [initial] = useState(props.initial)
  const [draft, setDraft] = useState(initial)
  const edit = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }))
  return (
    <Dialog {...{ title, wide, onClose }}>
      <SubmitForm
        {...{ action, waiting }}
        disabled={!isReady(draft, initial)}
        onSubmit={() => onSubmit(draft, initial)}
        onCancel={onClose}
      >
        {(faultOf) => (
          <>
            <FormFields {...{ draft, edit, faultOf, fields }} />
            {props.children?.({ draft, edit, faultOf })}
            {hint && <p class="hint">{hint}</p>}
          </>
        )}
      </SubmitForm>
    </Dialog>
  )
}
