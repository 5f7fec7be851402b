import './reference.css'
import { useState } from 'preact/hooks'
import type { Tone } from '../components/inline.tsx'
import { Badge } from '../components/inline.tsx'
import { type ApiDocument, limitsText, resolved, type Schema, typeText } from './api-document.ts'

/** Fields of a body or a reply. A field with fields of its own opens. */
export function SchemaView({ schema, document }: { schema: Schema; document: ApiDocument }) {
  const fields = fieldsOf(schema, document)
  if (fields.length === 0) {
    const { description } = resolved(schema, document)
    return (
      <p>
        <code>{typeText(resolved(schema, document))}</code> {description}
      </p>
    )
  }
  return (
    <ul class="ref-fields">
      {fields.map((field) => (
        <FieldRow key={field.name} {...field} document={document} />
      ))}
    </ul>
  )
}

interface SchemaField {
  name: string
  schema: Schema
  required: boolean
}

function FieldRow({ name, schema, required, document }: SchemaField & { document: ApiDocument }) {
  const [open, setOpen] = useState(false)
  const has = fieldsOf(schema, document).length > 0
  return (
    <li>
      <p>
        <code class="ref-name">{name}</code> <code class="muted">{typeText(schema)}</code>
        {required && <span class="ref-required">required</span>}
      </p>
      <Words schema={schema} document={document} />
      {has && (
        <details onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>Fields of {name}</summary>
          {open && <SchemaView schema={schema} document={document} />}
        </details>
      )}
    </li>
  )
}

/** Description and limits of a value. */
export function Words({ schema, document }: { schema: Schema; document: ApiDocument }) {
  const description = schema.description ?? resolved(schema, document).description
  const limits = limitsText(schema)
  return (
    <>
      {description && <p>{description}</p>}
      {limits && <p class="hint">{limits}</p>}
    </>
  )
}

/** Fields of an object, of the entries of a list, or of the choices of a union. */
function fieldsOf(schema: Schema, document: ApiDocument): SchemaField[] {
  const whole = resolved(schema, document)
  if (whole.properties) {
    const required = new Set(whole.required)
    return Object.entries(whole.properties).map(([name, of]) => ({ name, schema: of, required: required.has(name) }))
  }
  if (whole.items) return fieldsOf(whole.items, document)
  const parts = whole.anyOf ?? whole.oneOf ?? whole.allOf ?? []
  const unlike = new Map(parts.flatMap((part) => fieldsOf(part, document)).map((field) => [field.name, field]))
  return [...unlike.values()]
}

const TONES: Readonly<Record<string, Tone>> = { GET: 'accent', DELETE: 'bad', POST: 'good' }

/** Method of a request: reading, changing and deleting have colours of their own. */
export const Method = ({ of }: { of: string }) => <Badge tone={TONES[of] ?? 'warn'}>{of}</Badge>
