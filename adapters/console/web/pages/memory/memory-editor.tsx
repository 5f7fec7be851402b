import { useState } from 'preact/hooks'
import type { Memory } from '../../../../../src/memory/records/memory-record.ts'
import { api } from '../../api.ts'
import { type FieldSpec, FormFields, SubmitForm } from '../../components/forms.ts'
import { words } from '../../typed.ts'
import { textOf } from './use-memories.ts'

const HOUR_SECONDS = 3600

/** Memory while it is edited. */
interface MemoryDraft {
  key: string
  namespace: string
  kind: 'text' | 'json'
  value: string
  /** Null until it is edited, because the field cannot show a tag that contains a comma. */
  tags: string | null
  /** Hours until it expires; null until it is edited. */
  hours: string | null
}

const KINDS = [
  { value: 'text', label: 'Text' },
  { value: 'json', label: 'JSON' },
]

/**
 * Editor of a new memory, or of the next version of one.
 *
 * @param onSaved called with the stored memory
 */
export function MemoryEditor(props: {
  memory: Memory | null
  onSaved: (memory: Memory, created: boolean) => void
  onCancel: () => void
}) {
  // As it was when it was opened: a newer version is never overwritten.
  const [memory] = useState(props.memory)
  const [draft, setDraft] = useState(() => draftOf(memory))
  const [json, setJson] = useState<string | null>(null)
  const edit = (change: Partial<MemoryDraft>) => setDraft({ ...draft, ...change })

  const save = async () => {
    const parsed = draft.kind === 'text' ? { value: draft.value } : parseJson(draft.value)
    setJson(parsed === null ? 'This is not valid JSON. Correct the value, or choose Text.' : null)
    if (parsed === null) return
    const stored = await api.post('/api/memory', bodyOf(draft, parsed.value, memory))
    props.onSaved(stored.memory, stored.created)
  }

  const shown = { ...draft, tags: draft.tags ?? memory?.tags.join(', ') ?? '', hours: draft.hours ?? hoursLeft(memory) }
  return (
    <SubmitForm action={memory === null ? 'Store' : 'Save'} onSubmit={save} onCancel={props.onCancel}>
      {(faultOf) => (
        <FormFields
          draft={shown}
          edit={edit}
          faultOf={(at) => (at === 'value' ? json : null) ?? faultOf(at)}
          fields={fieldsOf(draft, memory)}
        />
      )}
    </SubmitForm>
  )
}

function draftOf(memory: Memory | null): MemoryDraft {
  const kind = memory && typeof memory.value !== 'string' ? 'json' : 'text'
  const { key = '', namespace = 'default' } = memory ?? {}
  return { key, namespace, kind, value: memory ? textOf(memory.value) : '', tags: null, hours: null }
}

function fieldsOf({ kind }: MemoryDraft, memory: Memory | null): (FieldSpec<MemoryDraft> | FieldSpec<MemoryDraft>[])[] {
  const named = { required: true, disabled: memory !== null }
  const keyHint = 'Name to recall the memory by, such as deploy/staging'
  return [
    [
      { name: 'key', label: 'Key', hint: keyHint, ...named, maxLength: 512, spellcheck: false },
      { name: 'namespace', label: 'Namespace', hint: 'Separate set of keys', ...named, maxLength: 128 },
      { name: 'kind', label: 'Kind', options: KINDS },
    ],
    { name: 'value', label: 'Value', rows: 8, required: memory === null, spellcheck: kind === 'text' },
    [
      { name: 'tags', label: 'Tags', hint: 'Comma-separated' },
      {
        name: 'hours',
        label: 'Expires after',
        at: 'ttl_seconds',
        hint: 'In hours. Empty: never.',
        type: 'number',
        min: '0.01',
        step: 'any',
      },
    ],
  ]
}

/** Request that stores a draft. */
function bodyOf({ key, namespace, tags, hours }: MemoryDraft, value: unknown, memory: Memory | null) {
  const ttl = hours === null ? secondsLeft(memory) : Math.round(Number(hours) * HOUR_SECONDS)
  return {
    key,
    namespace,
    project: memory?.project ?? null,
    value,
    // Also unchanged ones: this key now vouches for them.
    tags: tags === null ? (memory?.tags ?? []) : [...new Set(words(tags))],
    ...(ttl > 0 && { ttl_seconds: ttl }),
    // Refuses to overwrite a newer version, or another memory with the same key.
    if_version: memory?.version ?? 0,
  }
}

function parseJson(text: string): { value: unknown } | null {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return null
  }
}

/** Seconds until a memory expires; 0 when it never does. */
function secondsLeft(memory: Memory | null): number {
  if (!memory?.expires_at) return 0
  return Math.max(1, Math.ceil((Date.parse(memory.expires_at) - Date.now()) / 1000))
}

function hoursLeft(memory: Memory | null): string {
  const seconds = secondsLeft(memory)
  return seconds === 0 ? '' : String(Math.round((100 * seconds) / HOUR_SECONDS) / 100)
}
