import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import { Button, Field, Select, TextInput } from '../components/fields.tsx'
import { choicesOf, kindOf, partOf, type Schema, shapeOf, textOf } from './schema.ts'
import './schema-field.css'

/** A secret as the API shows it. */
const REDACTED = '***'

/** Fault of a value, by its dotted path. */
export interface Fault {
  param: string | null
  message: string
}

interface Props {
  /** Dotted path, by which its fault is found. */
  path: string
  label: string
  schema: Schema
  /** Value, or the text of it while it is edited. */
  value: unknown
  fault: Fault | null
  hint?: ComponentChildren
  disabled?: boolean
  /** Folds the fields of an object that has none of them. */
  isFolded?: boolean
  /** Values to choose from besides those of the schema. */
  suggestions?: readonly string[] | undefined
  onEdit: (value: unknown) => void
}

/** Control of a value, or of each of its parts, by its JSON Schema. */
export function SchemaField(props: Props) {
  const { path, label, schema, value, fault, hint, isFolded = false } = props
  const [wasEmpty] = useState(value === undefined || value === null)
  const kind = kindOf(schema, value)
  const isHere = fault !== null && (fault.param === path || fault.param?.startsWith(`${path}.`) === true)
  if (kind === 'fields' || kind === 'list' || kind === 'entries') {
    const isWhole = isHere && fault.param === path
    return (
      <fieldset class="schema-parts">
        <legend>{label}</legend>
        {hint && <div class="hint">{hint}</div>}
        {isWhole && (
          <p class="field-error" role="alert">
            {fault.message}
          </p>
        )}
        {isFolded && kind === 'fields' && wasEmpty ? (
          <details class="schema-more" open={isHere}>
            <summary>Set it</summary>
            <Parts {...props} />
          </details>
        ) : (
          <Parts {...props} />
        )}
      </fieldset>
    )
  }
  return (
    <Field label={label} hint={hint} error={isHere ? fault.message : null}>
      <Control {...props} />
    </Field>
  )
}

/** Control of a plain value. */
function Control({ schema, value, disabled = false, suggestions = [], onEdit }: Props) {
  const list = useId()
  const kind = kindOf(schema, value)
  const text = typeof value === 'string' ? value : textOf(value)
  if (kind === 'switch' || kind === 'choice') {
    const choices = kind === 'switch' ? ['true', 'false'] : choicesOf(schema)
    const options = text === '' || schema.anyOf ? [{ value: '', label: 'default' }, ...choices] : choices
    return <Select value={text} options={options} disabled={disabled} onChange={onEdit} />
  }
  if (kind === 'lines' || kind === 'pairs') {
    const rows = Math.min(8, text.split('\n').length + 1)
    return (
      <TextInput
        rows={rows}
        spellcheck={false}
        placeholder={kind === 'lines' ? 'one per line' : 'name = value'}
        disabled={disabled}
        value={text}
        onInput={onEdit}
      />
    )
  }
  const isSecret = schema.secret === 'value'
  return (
    <>
      <TextInput
        type={isSecret ? 'password' : 'text'}
        inputMode={kind === 'number' ? 'decimal' : 'text'}
        autoComplete="off"
        spellcheck={false}
        placeholder={isSecret && text === REDACTED ? 'Set. Enter a new value to replace it' : placeholderOf(schema)}
        disabled={disabled}
        value={isSecret && text === REDACTED ? '' : text}
        onInput={onEdit}
        {...(suggestions.length > 0 && { list })}
      />
      {suggestions.length > 0 && (
        <datalist id={list}>
          {suggestions.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </>
  )
}

const placeholderOf = ({ default: value }: Schema) =>
  value === null || value === undefined || value === '' ? 'not set' : `default: ${textOf(value)}`

/** Controls of the parts of a list, a record or an object. */
function Parts({ path, schema, value, fault, disabled = false, onEdit }: Props) {
  const kind = kindOf(schema, value)
  const parts = (value ?? (kind === 'list' ? [] : {})) as Record<string, unknown>
  const names = kind === 'fields' ? Object.keys(shapeOf(schema, value).properties ?? {}) : Object.keys(parts)
  const put = (name: string, part: unknown) =>
    onEdit(Array.isArray(value) ? value.with(Number(name), part) : { ...parts, [name]: part })
  const remove = (name: string) => {
    const { [name]: _, ...others } = parts
    onEdit(kind === 'list' ? Object.values(others) : others)
  }
  const field = (name: string, label: string) => {
    const part = partOf(schema, value, name)
    const inner = { path: `${path}.${name}`, schema: part, value: parts[name], fault, disabled }
    return (
      <SchemaField
        key={name}
        label={label}
        {...(part.description && { hint: part.description })}
        {...inner}
        isFolded={kind === 'fields'}
        onEdit={(to) => put(name, to)}
      />
    )
  }
  if (kind === 'fields') return <div class="fields">{names.map((name) => field(name, nameOf(name)))}</div>
  return (
    <>
      {names.map((name, at) => (
        <div key={name} class="schema-part">
          {field(name, kind === 'list' ? `${at + 1}` : name)}
          {!disabled && (
            <Button
              size="small"
              tone="quiet"
              label={`Remove ${kind === 'list' ? at + 1 : name}`}
              onClick={() => remove(name)}
            >
              Remove
            </Button>
          )}
        </div>
      ))}
      {!disabled && kind === 'list' && (
        <Button size="small" onClick={() => onEdit([...Object.values(parts), emptyOf(schema)])} children="Add" />
      )}
      {!disabled && kind === 'entries' && (
        <NewEntry taken={names} onAdd={(name) => onEdit({ ...parts, [name]: emptyOf(schema) })} />
      )}
    </>
  )
}

/** Value of a new part: empty text, or an object without fields. */
const emptyOf = (schema: Schema) => {
  const part = partOf(schema, undefined, '')
  return shapeOf(part).properties ? {} : ''
}

function NewEntry({ taken, onAdd }: { taken: readonly string[]; onAdd: (name: string) => void }) {
  const [name, setName] = useState('')
  const wanted = name.trim()
  return (
    <div class="actions">
      <TextInput
        aria-label="Name of a new entry"
        placeholder="name"
        spellcheck={false}
        value={name}
        onInput={setName}
      />
      <Button
        size="small"
        disabled={wanted === '' || taken.includes(wanted)}
        onClick={() => {
          onAdd(wanted)
          setName('')
        }}
      >
        Add
      </Button>
    </div>
  )
}

/** Label of a field: `base_url` → `Base URL`. */
const nameOf = (field: string) => {
  const words = field.replaceAll('_', ' ').replace(/\b(url|api|usd|id|ids|ms)\b/g, (word) => word.toUpperCase())
  return words[0]?.toUpperCase() + words.slice(1).replace('MS', 'ms').replace('IDS', 'ids')
}
