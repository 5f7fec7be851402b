import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { ApiError } from '../api.ts'
import { FormEnd } from './form.tsx'
import { focusFirst, submitByKeys } from './keyboard-focus.ts'
import { ErrorNote } from './notes.tsx'
import { useAction } from './use-action.ts'

/** Finds the API's fault of a field or a part of it, such as `limits.budgets`; null when there is none. */
export type FaultOf = (field: string) => string | null

/**
 * Form that sends to the API by its button, Enter, or Ctrl+Enter in a text area. Faults of a field appear beside it,
 * other errors above the buttons.
 *
 * @param action label of the button: the action, not "OK"
 * @param onSubmit its error is shown, and the form stays
 * @param waiting shown while a long action runs
 * @param children the fields, which read their own faults
 */
export function SubmitForm(props: {
  action: string
  disabled?: boolean
  waiting?: string
  onSubmit: () => Promise<void>
  onCancel: () => void
  children: (faultOf: FaultOf) => ComponentChildren
}) {
  const form = useRef<HTMLFormElement>(null)
  useLayoutEffect(() => {
    // Focuses a form that replaces other content of an open dialog.
    if (form.current?.closest('dialog[open]')) focusFirst(form.current)
  }, [])
  const { busy, error, run } = useAction()
  const at = error instanceof ApiError ? error.param : null
  let isBeside = false
  const fields = props.children((field) => {
    if (at !== field && !at?.startsWith(`${field}.`)) return null
    isBeside = true
    return (error as ApiError).message
  })

  return (
    <form
      ref={form}
      class="stack"
      onKeyDown={submitByKeys}
      onSubmit={(event) => {
        event.preventDefault()
        void run(props.onSubmit)
      }}
    >
      {fields}
      <OtherError error={error} isBeside={() => isBeside} />
      {busy && props.waiting && <p class="hint">{props.waiting}</p>}
      <FormEnd action={props.action} busy={busy} disabled={props.disabled ?? false} onCancel={props.onCancel} />
    </form>
  )
}

/** Error that no field shows. Rendered after the fields, which have read their faults by then. */
function OtherError({ error, isBeside }: { error: unknown; isBeside: () => boolean }) {
  return isBeside() ? null : <ErrorNote error={error} />
}
