import { type ComponentChildren, Fragment } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import type { ApiPath, FieldsOf } from '../api-paths.ts'
import { place } from '../router.ts'
import { Copy, type Tone } from './inline.tsx'

/** Page with its title, purpose and actions. @param back the list that it belongs to, the one way back */
export function Page(props: {
  title: string
  back?: { label: string; href: string } | undefined
  intro?: ComponentChildren
  actions?: ComponentChildren
  children?: ComponentChildren
}) {
  useEffect(() => {
    document.title = `${props.title} · Gazeway`
  }, [props.title, place.value.id])
  return (
    <>
      <header class="page-head">
        <div>
          {props.back && (
            <nav class="crumb" aria-label="Back">
              <a href={props.back.href}>{props.back.label}</a> /
            </nav>
          )}
          <h1 tabIndex={-1}>{props.title}</h1>
          {props.intro && <p class="intro">{props.intro}</p>}
        </div>
        {props.actions && <div class="actions">{props.actions}</div>}
      </header>
      {props.children}
    </>
  )
}

/** Part of a page, with a heading. */
export function Card(props: { title?: string; actions?: ComponentChildren; children?: ComponentChildren }) {
  const id = useId()
  return (
    <section class="card" aria-labelledby={props.title ? id : undefined}>
      {(props.title || props.actions) && (
        <div class="card-head">
          {props.title && (
            <h2 id={id} tabIndex={-1}>
              {props.title}
            </h2>
          )}
          {props.actions && <div class="actions">{props.actions}</div>}
        </div>
      )}
      {props.children}
    </section>
  )
}

/** Cards or figures, as many per row as fit. @param of figures are narrower than cards; columns are filled one by one */
export function Grid(props: { of?: 'cards' | 'columns' | 'figures'; children: ComponentChildren }) {
  const { of = 'cards', children } = props
  return <div class={`grid ${of}`}>{children}</div>
}

/** One large figure. @param href list of the rows that it sums up */
export function Stat(props: {
  label: string
  value: ComponentChildren
  hint?: ComponentChildren
  tone?: Tone
  href?: string | undefined
}) {
  const { label, value, href } = props
  return (
    <dl class={`stat ${props.tone ?? 'neutral'}`}>
      <dt>{label}</dt>
      <dd class="value">{href === undefined ? value : <a href={href}>{value}</a>}</dd>
      {props.hint && <dd class="hint">{props.hint}</dd>}
    </dl>
  )
}

/** Tabs, of which one is shown. The arrow keys move between them. */
export function Tabs<Id extends string>(props: {
  label: string
  tabs: readonly { id: Id; label: string }[]
  active: Id
  onChange: (id: Id) => void
}) {
  const list = useRef<HTMLDivElement>(null)
  // Where the tabs are wider than the screen.
  useEffect(() => list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' }), [])
  const move = (event: KeyboardEvent, by: number) => {
    const at = props.tabs.findIndex(({ id }) => id === props.active)
    const next = props.tabs[(at + by + props.tabs.length) % props.tabs.length]
    if (!next) return
    event.preventDefault()
    props.onChange(next.id)
    const buttons = (event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('[role=tab]')
    buttons[props.tabs.indexOf(next)]?.focus()
  }
  return (
    <div
      ref={list}
      class="tabs"
      role="tablist"
      aria-label={props.label}
      onKeyDown={(event) => {
        if (event.key === 'ArrowRight') move(event, 1)
        if (event.key === 'ArrowLeft') move(event, -1)
      }}
    >
      {props.tabs.map(({ id, label }) => (
        <button
          key={id}
          type="button"
          role="tab"
          aria-selected={id === props.active}
          tabIndex={id === props.active ? 0 : -1}
          onClick={() => props.onChange(id)}
        >
          {label}
        </button>
      ))}
    </div>
  )
}

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

/** Values of one thing by their names. A value that is null, undefined or false is omitted with its name. */
export function Facts({ of }: { of: Readonly<Record<string, ComponentChildren>> }) {
  return (
    <dl class="facts">
      {Object.entries(of)
        .filter(([, value]) => value !== null && value !== undefined && value !== false)
        .map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
    </dl>
  )
}

/** Text as it was written, or JSON, which scrolls within its height. @param label name for those who reach it by the keyboard */
export function Verbatim({ label, text }: { label: string; text: unknown }) {
  return (
    <pre role="region" tabIndex={0} aria-label={label}>
      {typeof text === 'string' ? text : JSON.stringify(text, null, 2)}
    </pre>
  )
}

/** Command that posts a body to a path of this Gazeway, for empty lists that teach the first step. */
export const curlOf = <const P extends ApiPath<'post'>>(path: P, body: FieldsOf<'post', P>): string =>
  `curl ${location.origin}${path} -H "Authorization: Bearer $GAZEWAY_KEY" --json '${JSON.stringify(body)}'`
