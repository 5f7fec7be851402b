import type { ComponentChildren } from 'preact'
import { Copy } from './inline.tsx'

/** Empty state: the reason and what to do. @param command first step in a terminal, to be copied */
export function Empty(props: {
  title: string
  hint?: ComponentChildren
  command?: string | undefined
  action?: ComponentChildren
}) {
  return (
    <div class="empty">
      <p class="empty-title">{props.title}</p>
      {props.hint && <p>{props.hint}</p>}
      {props.command && <Copy text={props.command} />}
      {props.action}
    </div>
  )
}
