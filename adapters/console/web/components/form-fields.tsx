import type { ComponentChildren } from 'preact'
import { Field, Select, type SelectOption, TextInput, type TextOptions } from './fields.tsx'
import type { FaultOf } from './submit-form.tsx'

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

/** Values while they are edited. */
export interface Editing<Draft> {
  draft: Draft
  edit: (change: Partial<Draft>) => void
  faultOf?: FaultOf
}

/** Fields of a form. Those of an inner list stand side by side. */
export function FormFields<Draft extends object>(
  props: Editing<Draft> & { fields: readonly (FieldSpec<Draft> | readonly FieldSpec<Draft>[])[]; disabled?: boolean },
) {
  const { fields, ...editing } = props
  return (
    <>
      {fields.map((one, at) =>
        'name' in one ? (
          <OneField key={one.name} spec={one} {...editing} />
        ) : (
          <div key={at} class="fields">
            <FormFields {...editing} fields={one} />
          </div>
        ),
      )}
    </>
  )
}

/** Fields above a list that select its items. @param children buttons after them */
export function Filters<Draft extends object>(
  props: Editing<Draft> & { fields: readonly FieldSpec<Draft>[]; children?: ComponentChildren },
) {
  const { children, ...fields } = props
  return (
    <div class="filters">
      <FormFields {...fields} />
      {children}
    </div>
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
