import { type ComponentChildren, createContext, type JSX } from 'preact'
import { useContext, useId, useLayoutEffect, useRef } from 'preact/hooks'
import { useFocusHandedOn } from './keyboard-focus.ts'

/** Ids that connect a control with its field's label, hint and error. */
interface FieldIds {
  id: string
  describedBy: string | undefined
  invalid: boolean
}

const InField = createContext<FieldIds | null>(null)

interface FieldProps {
  label: ComponentChildren
  hint?: ComponentChildren
  error?: string | null
}

/** Control with its label, hint and error. */
export function Field(props: FieldProps & { children: ComponentChildren }) {
  const id = useId()
  const described = [props.hint ? `${id}-hint` : '', props.error ? `${id}-error` : ''].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <InField.Provider value={{ id, describedBy: described || undefined, invalid: Boolean(props.error) }}>
        {props.children}
      </InField.Provider>
      {props.hint && (
        <p class="hint" id={`${id}-hint`}>
          {props.hint}
        </p>
      )}
      {props.error && (
        <p class="field-error" id={`${id}-error`} role="alert">
          {props.error}
        </p>
      )}
    </div>
  )
}

/** Props of a custom control that belongs to the field around it. */
export function useFieldProps() {
  const field = useContext(InField)
  if (!field) return {}
  return {
    id: field.id,
    'aria-invalid': field.invalid || undefined,
    ...(field.describedBy && { 'aria-describedby': field.describedBy }),
  }
}

/** Options of a text control besides its value. */
export interface TextOptions {
  type?: 'text' | 'password' | 'number' | 'search' | 'url' | 'datetime-local'
  name?: string
  placeholder?: string
  required?: boolean
  disabled?: boolean
  autoComplete?: string
  spellcheck?: boolean
  maxLength?: number
  min?: number | string
  max?: number | string
  step?: number | string
  /** Id of a datalist. */
  list?: string
  inputMode?: 'decimal' | 'numeric' | 'text'
  'aria-label'?: string
}

interface TextProps extends TextOptions {
  value: string
  onInput: (value: string) => void
  rows?: number
}

/** @param rows a number above one makes a text area */
export function TextInput({ value, onInput, rows = 1, ...options }: TextProps) {
  const field = useFieldProps()
  if (rows === 1) {
    const { type = 'text', ...rest } = options
    // Its attributes are a union by `type`, and a value of several types belongs to no member of it.
    const attributes = { ...field, ...rest, type, value } as JSX.IntrinsicElements['input']
    return <input {...attributes} onInput={(event) => onInput(event.currentTarget.value)} />
  }
  const attributes = { ...field, ...options, rows, value } as JSX.IntrinsicElements['textarea']
  return <textarea {...attributes} onInput={(event) => onInput(event.currentTarget.value)} />
}

/** Text control with its label, hint and error. */
export const TextField = ({ label, hint, error = null, ...text }: FieldProps & TextProps) => (
  <Field {...{ label, hint, error }} children={<TextInput {...text} />} />
)

/** Value to select, with a label where it is another. */
export type SelectOption<Value extends string = string> = Value | { value: Value; label: string }

interface SelectProps<Value extends string> {
  value: Value
  options: readonly SelectOption<Value>[]
  onChange: (value: Value) => void
  disabled?: boolean
}

/** Selection of one option. */
export function Select<Value extends string>(props: SelectProps<Value>) {
  const field = useFieldProps()
  return (
    <select
      {...field}
      disabled={props.disabled}
      value={props.value}
      onChange={(event) => props.onChange(event.currentTarget.value as Value)}
    >
      {props.options.map((option) => {
        const { value, label } = typeof option === 'string' ? { value: option, label: option } : option
        return (
          <option key={value} value={value}>
            {label}
          </option>
        )
      })}
    </select>
  )
}

/** Selection with its label, hint and error. */
export function SelectField<Value extends string>({
  label,
  hint,
  error = null,
  ...select
}: FieldProps & SelectProps<Value>) {
  return <Field {...{ label, hint, error }} children={<Select {...select} />} />
}

/** Checkbox with its label and hint. */
export function Checkbox(props: {
  label: ComponentChildren
  checked: boolean
  onChange: (checked: boolean) => void
  disabled?: boolean
}) {
  return (
    <label class="checkbox">
      <input
        type="checkbox"
        checked={props.checked}
        disabled={props.disabled}
        onChange={(event) => props.onChange(event.currentTarget.checked)}
      />
      <span>{props.label}</span>
    </label>
  )
}

/**
 * Button that keeps the keyboard focus while disabled or busy. The attribute `disabled` would move the focus to the top
 * of the page.
 *
 * @param busy shows progress, prevents a second start, and keeps the surrounding dialog open
 */
export function Button(props: {
  children: ComponentChildren
  onClick?: (() => void) | undefined
  tone?: 'plain' | 'primary' | 'danger' | 'quiet'
  type?: 'button' | 'submit'
  size?: 'normal' | 'small'
  busy?: boolean
  disabled?: boolean
  label?: string
  /** -1 for a button that keys of the page act for. */
  tabIndex?: number
  /** State of a button that is pressed and released. */
  pressed?: boolean
}) {
  const { tone = 'plain', size = 'normal', busy = false } = props
  const isOff = busy || props.disabled === true
  const element = useRef<HTMLButtonElement>(null)
  useBusyAround(busy)
  useFocusHandedOn(element)
  return (
    <button
      ref={element}
      type={props.type ?? 'button'}
      class={`${tone} ${size}`}
      tabIndex={props.tabIndex}
      aria-label={props.label}
      aria-pressed={props.pressed}
      aria-busy={busy || undefined}
      aria-disabled={isOff || undefined}
      onClick={(event) => {
        if (isOff) event.preventDefault()
        else props.onClick?.()
      }}
    >
      {busy && <span class="spinner" aria-hidden="true" />}
      {props.children}
    </button>
  )
}

/** The main button of a page, a list or a form. Without `onClick` it submits its form. */
export function Primary(props: {
  children: ComponentChildren
  onClick?: () => void
  busy?: boolean
  disabled?: boolean
}) {
  return <Button {...props} tone="primary" type={props.onClick ? 'button' : 'submit'} />
}

/** Notifies the elements around a button when its work begins and ends. */
export const BusyAround = createContext<(busy: boolean) => void>(() => {})

/** Notifies the surrounding elements whether work is in progress. */
function useBusyAround(busy: boolean): void {
  const tell = useContext(BusyAround)
  useLayoutEffect(() => {
    if (!busy) return
    tell(true)
    return () => tell(false)
  }, [busy])
}
