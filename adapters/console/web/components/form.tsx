import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { ApiError } from '../api.ts'
import { go, href, queryOf } from '../router.ts'
import { timeIn } from '../typed.ts'
import { Button, Field, Select, type SelectOption, TextInput, type TextOptions } from './fields.tsx'
import { focusFirst, submitByKeys } from './keyboard-focus.ts'
import { ErrorNote } from './notes.tsx'
import { useAction } from './use-action.ts'

/** Form that calls a function in place of loading a page: by its button, Enter, or Ctrl+Enter in a text area. */
export function Form(props: { class?: string; onSubmit: () => unknown; children: ComponentChildren }) {
  const form = useRef<HTMLFormElement>(null)
  useLayoutEffect(() => {
    // Focuses a form that replaces other content of an open dialog.
    if (form.current?.closest('dialog[open]')) focusFirst(form.current)
  }, [])
  return (
    <form
      ref={form}
      class={props.class ?? 'stack'}
      onKeyDown={submitByKeys}
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
  const { action, tone = 'primary', busy, disabled = false, onCancel } = props
  return (
    <div class="actions end">
      <Button disabled={busy} onClick={onCancel} children="Cancel" />
      <Button type="submit" {...{ tone, busy, disabled }} children={action} />
    </div>
  )
}

/** Finds the API's fault of a field or a part of it, such as `limits.budgets`; null when there is none. */
export type FaultOf = (field: string) => string | null

/**
 * Form that sends to the API. Faults of a field appear beside it, other errors above the buttons.
 *
 * @param action label of the button: the action, not "OK"
 * @param onSubmit its error is shown, and the form stays
 * @param waiting shown while a long action runs
 * @param children the fields, which read their own faults
 */
export function SubmitForm(props: {
  action: string
  disabled?: boolean
  waiting?: string | undefined
  onSubmit: () => Promise<void>
  onCancel: () => void
  children: (faultOf: FaultOf) => ComponentChildren
}) {
  const { action, disabled = false, waiting, onSubmit, onCancel, children } = props
  const { busy, error, run } = useAction()
  const at = error instanceof ApiError ? error.param : null
  let isBeside = false
  const fields = children((field) => {
    if (at !== field && !at?.startsWith(`${field}.`)) return null
    isBeside = true
    return (error as ApiError).message
  })
  return (
    <Form onSubmit={() => run(onSubmit)}>
      {fields}
      <OtherError error={error} isBeside={() => isBeside} />
      {busy && waiting && <p class="hint">{waiting}</p>}
      <FormEnd {...{ action, busy, disabled, onCancel }} />
    </Form>
  )
}

/** Error that no field shows. Rendered after the fields, which have read their faults by then. */
function OtherError({ error, isBeside }: { error: unknown; isBeside: () => boolean }) {
  return isBeside() ? null : <ErrorNote error={error} />
}

/** Field of a form, as data: a selection if it has options, else text. */
export interface FieldSpec<Draft> extends Omit<TextOptions, 'name'> {
  /** Field of the draft. */
  name: keyof Draft & string
  label: string
  hint?: ComponentChildren
  /** Path of the value in the request, by which faults are found. The name by default. */
  at?: string
  /** Rows of a text area. */
  rows?: number
  options?: readonly SelectOption[]
}

/** Fields of a form. Those of an inner list stand side by side. */
export type FieldSpecs<Draft> = readonly (FieldSpec<Draft> | readonly FieldSpec<Draft>[])[]

/** Values while they are edited. */
export interface Editing<Draft> {
  draft: Draft
  edit: (change: Partial<Draft>) => void
  faultOf?: FaultOf
}

/** Fields of a form, by their specifications. */
export function FormFields<Draft extends object>(
  props: Editing<Draft> & { fields: FieldSpecs<Draft>; disabled?: boolean },
) {
  const { fields, ...editing } = props
  return (
    <>
      {fields.map((one, at) =>
        'name' in one ? (
          <OneField key={one.name} spec={one} {...editing} />
        ) : (
          <div key={at} class="fields" children={<FormFields {...editing} fields={one} />} />
        ),
      )}
    </>
  )
}

function OneField<Draft extends object>(props: Editing<Draft> & { spec: FieldSpec<Draft>; disabled?: boolean }) {
  const { draft, edit, faultOf, disabled = false } = props
  const { name, label, hint, at = name, options, ...text } = props.spec
  const value = String(draft[name] ?? '')
  const set = (typed: string) => edit({ [name]: typed } as Partial<Draft>)
  const control = { value, disabled: disabled || text.disabled === true }
  return (
    <Field label={label} hint={hint} error={faultOf?.(at) ?? null}>
      {options ? (
        <Select {...control} options={options} onChange={set} />
      ) : (
        <TextInput {...text} {...control} onInput={set} />
      )}
    </Field>
  )
}

/** Option that leaves a filter out. */
export const ALL = { value: '', label: 'All' }

/** Hint of a list in which nothing matches filters that are typed in full. */
export const WHOLE_NAMES = 'Filters match whole names. Clear a filter to see more.'

/** Filters of the time of a record. */
export const TIMES = [
  { name: 'from', label: 'From', type: 'datetime-local' },
  { name: 'to', label: 'Before', type: 'datetime-local' },
] as const

/**
 * Filters of a list, which are in the address.
 *
 * @param place page and id of the list
 * @param known options of the filters that have no other values: the address may have been typed
 * @returns the filters to edit, and the query that they ask the API for; `from` and `to` are times
 */
export function useFilters<Name extends string>(
  query: URLSearchParams,
  names: readonly Name[],
  [page, id = null]: readonly [page: string, id?: string | null],
  known: { readonly [Some in Name]?: readonly SelectOption[] } = {},
) {
  const knownValue = (name: Name) => {
    const value = query.get(name) ?? ''
    const options = known[name]?.map((option) => (typeof option === 'string' ? option : option.value))
    return options === undefined || options.includes(value) ? value : ''
  }
  const draft = Object.fromEntries(names.map((name) => [name, knownValue(name)])) as Record<Name, string>
  const { from = '', to = '' } = draft as Record<string, string>
  const asked = queryOf({ ...draft, from: timeIn(from), to: timeIn(to) })
  const edit = (change: Partial<typeof draft>) => go(href(page, { id, query: { ...draft, ...change } }), true)
  return { draft, edit, asked, clear: () => go(href(page, { id }), true) }
}

/** Fields that select what is shown. `clear` is a button once something is asked for. */
export interface Filtering<Draft> extends Editing<Draft> {
  fields: readonly FieldSpec<Draft>[]
  asked?: string
  clear?: () => void
  /** Buttons after the fields. */
  children?: ComponentChildren
}

/** Fields above a list that select its items. */
export function Filters<Draft extends object>(props: Filtering<Draft>) {
  const { asked, clear, children, ...fields } = props
  return (
    <div class="filters">
      <FormFields {...fields} />
      {children}
      {asked && clear && <Button onClick={clear}>Clear filters</Button>}
    </div>
  )
}
