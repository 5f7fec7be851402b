import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../api.ts'
import { Button } from './fields.tsx'
import { focusFirst, submitByKeys } from './keyboard-focus.ts'
import { ErrorNote } from './notes.tsx'

/** What the API found wrong with a field or inside it, by its path there, such as `limits.budgets`; null where nothing is. */
export type FaultOf = (field: string) => string | null

/**
 * A form that sends something to the API, by its button or Enter; by Ctrl and Enter from a text area. What is wrong with a field is told beside it, everything else above the buttons.
 *
 * @param action the button's word: what is done, not "OK"
 * @param onSubmit its error is shown and the form stays
 * @param waiting said while it is being done, where that takes long
 * @param children the fields, which ask what is wrong with them
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
    // One that takes the place of something else in a dialog that is open already.
    if (form.current?.closest('dialog[open]')) focusFirst(form.current)
  }, [])
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const at = error instanceof ApiError ? error.param : null
  let isBeside = false
  const fields = props.children((field) => {
    if (at !== field && !at?.startsWith(`${field}.`)) return null
    isBeside = true
    return (error as ApiError).message
  })

  const submit = async () => {
    setBusy(true)
    setError(null)
    try {
      await props.onSubmit()
    } catch (fault) {
      setError(fault)
    } finally {
      setBusy(false)
    }
  }
  return (
    <form
      ref={form}
      class="stack"
      onKeyDown={submitByKeys}
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      {fields}
      <Elsewhere error={error} isBeside={() => isBeside} />
      {busy && props.waiting && <p class="hint">{props.waiting}</p>}
      <div class="actions end">
        <Button disabled={busy} onClick={props.onCancel}>
          Cancel
        </Button>
        <Button type="submit" tone="primary" busy={busy} disabled={props.disabled ?? false}>
          {props.action}
        </Button>
      </div>
    </form>
  )
}

/** An error that is not told beside a field. It is drawn after the fields, whose components have asked for theirs by then. */
function Elsewhere({ error, isBeside }: { error: unknown; isBeside: () => boolean }) {
  return isBeside() ? null : <ErrorNote error={error} />
}
