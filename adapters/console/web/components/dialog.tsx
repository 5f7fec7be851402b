import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { BusyAround } from './busy.ts'
import { Button } from './fields.tsx'
import { focusFirst } from './keyboard-focus.ts'
import { ErrorNote } from './notes.tsx'

/**
 * Something that has to be dealt with first. Escape and the button close it; while something is being done in it, nothing
 * does: that would hide what comes of it, not undo it. The focus begins on the first field, and however it goes, goes back
 * to where it was.
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
    // Browsers let the second Escape through, whatever became of the first.
    if (busy) dialog.current?.showModal()
    else if (dialog.current) props.onClose()
  }
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    // The browser takes the button that closes it.
    if (element) focusFirst(element)
    // An element that is taken away while it is open gives the focus back to nobody.
    return () => element?.close()
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
 * Asks before something that cannot be undone. Without a field the focus begins on Cancel where the tone is `danger`, so that
 * Enter alone destroys nothing.
 *
 * @param body what will happen, with amounts and names
 * @param action the button's word: what is done, not "OK"
 * @param onConfirm its error is shown and the question stays
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
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const close = () => {
    setError(null)
    props.onClose()
  }
  const confirm = async () => {
    setBusy(true)
    setError(null)
    try {
      await props.onConfirm()
      close()
    } catch (fault) {
      setError(fault)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog title={props.title} open={props.open} onClose={close}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void confirm()
        }}
      >
        <div class="confirm-body">{props.body}</div>
        {error !== null && <ErrorNote error={error} />}
        <div class="actions end">
          <Button disabled={busy} onClick={close}>
            Cancel
          </Button>
          <Button type="submit" tone={props.tone ?? 'danger'} busy={busy}>
            {props.action}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
