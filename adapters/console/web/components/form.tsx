import type { ComponentChildren } from 'preact'

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
