import type { ComponentChildren } from 'preact'
import { Button } from './fields.tsx'

/** Form that calls a function in place of loading a page. */
export function Form(props: { class?: string; onSubmit: () => unknown; children: ComponentChildren }) {
  return (
    <form
      class={props.class ?? 'stack'}
      onSubmit={(event) => {
        event.preventDefault()
        props.onSubmit()
      }}
    >
      {props.children}
    </form>
  )
}

/** Buttons at the end of a form in a dialog. @param action label of the button that submits it */
export function FormEnd(props: {
  action: string
  tone?: 'primary' | 'danger'
  busy: boolean
  disabled?: boolean
  onCancel: () => void
}) {
  const { tone = 'primary', busy, disabled = false } = props
  return (
    <div class="actions end">
      <Button disabled={busy} onClick={props.onCancel}>
        Cancel
      </Button>
      <Button type="submit" tone={tone} busy={busy} disabled={disabled}>
        {props.action}
      </Button>
    </div>
  )
}
