import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { BusyAround } from './busy.ts'
import { Button } from './fields.tsx'
import { Form, FormEnd } from './form.tsx'
import { focusFirst, focusSuccessor } from './keyboard-focus.ts'
import { ErrorNote } from './notes.tsx'
import { useAction } from './use-action.ts'

/**
 * Modal dialog. Escape and its button close it, except while work in it is in progress: closing would hide the result
 * without undoing the work. The focus begins on the first field, and returns to its earlier element at the end.
 */
export function Dialog({ open, ...props }: DialogProps & { open: boolean }) {
  return open ? <OpenDialog {...props} /> : null
}

interface DialogProps {
  title: string
  onClose: () => void
  children?: ComponentChildren
  wide?: boolean
}

function OpenDialog(props: DialogProps) {
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
        <Button tone="quiet" size="small" label="Close" disabled={busy} onClick={props.onClose}>
          ✕
        </Button>
      </div>
      <BusyAround.Provider value={setBusy}>{props.children}</BusyAround.Provider>
    </dialog>
  )
}

/**
 * Asks before an action that cannot be undone. With the tone `danger` and without a field, the focus begins on Cancel,
 * so that Enter alone destroys nothing.
 *
 * @param body consequences, with amounts and names
 * @param action label of the button: the action, not "OK"
 * @param onConfirm its error is shown, and the dialog stays
 */
export function Confirm(props: {
  title: string
  body: ComponentChildren
  action: string
  open: boolean
  tone?: 'primary' | 'danger'
  onConfirm: () => Promise<void> | void
  onClose: () => void
}) {
  const { busy, error, setError, run } = useAction()
  const close = () => {
    setError(null)
    props.onClose()
  }
  const confirm = async () => {
    await props.onConfirm()
    close()
  }
  return (
    <Dialog title={props.title} open={props.open} onClose={close}>
      <Form onSubmit={() => run(confirm)}>
        <div class="confirm-body">{props.body}</div>
        <ErrorNote error={error} />
        <FormEnd action={props.action} tone={props.tone ?? 'danger'} busy={busy} onCancel={close} />
      </Form>
    </Dialog>
  )
}
