import { useState } from 'preact/hooks'
import type { Memory } from '../../../../../src/memory/records/memory-record.ts'
import type { StoredMemory } from '../../../../platform/routes/memory-routes.ts'
import { api } from '../../api.ts'
import { Field, Select, SubmitForm, TextInput } from '../../components/components.ts'
import { words } from '../../typed.ts'
import { textOf } from './value-text.ts'

const HOUR_SECONDS = 3600

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
  const { memory } = props
  const [key, setKey] = useState(memory?.key ?? '')
  const [namespace, setNamespace] = useState(memory?.namespace ?? 'default')
  const [kind, setKind] = useState<'text' | 'json'>(memory && typeof memory.value !== 'string' ? 'json' : 'text')
  const [value, setValue] = useState(memory ? textOf(memory.value) : '')
  // Null until it is edited, because the field cannot show a tag that contains a comma.
  const [tags, setTags] = useState<string | null>(null)
  const [hours, setHours] = useState<string | null>(null)
  const [json, setJson] = useState<string | null>(null)

  const save = async () => {
    const parsed = kind === 'text' ? { value } : parseJson(value)
    setJson(parsed === null ? 'This is not valid JSON. Correct the value, or choose Text.' : null)
    if (parsed === null) return
    const ttl = hours === null ? secondsLeft(memory) : Math.round(Number(hours) * HOUR_SECONDS)
    const stored = await api.post<StoredMemory>('/api/memory', {
      key,
      namespace,
      value: parsed.value,
      // Also unchanged ones: this key now vouches for them.
      tags: tags === null ? (memory?.tags ?? []) : [...new Set(words(tags))],
      ...(ttl > 0 && { ttl_seconds: ttl }),
      // Refuses to overwrite a newer version, or another memory with the same key.
      if_version: memory?.version ?? 0,
    })
    props.onSaved(stored.memory, stored.created)
  }

  return (
    <SubmitForm action={memory === null ? 'Store' : 'Save'} onSubmit={save} onCancel={props.onCancel}>
      {(faultOf) => (
        <>
          <div class="fields">
            <Field label="Key" error={faultOf('key')} hint="Name to recall the memory by, such as deploy/staging">
              <TextInput
                value={key}
                onInput={setKey}
                required
                disabled={memory !== null}
                maxLength={512}
                spellcheck={false}
              />
            </Field>
            <Field label="Namespace" error={faultOf('namespace')} hint="Separate set of keys">
              <TextInput value={namespace} onInput={setNamespace} required disabled={memory !== null} maxLength={128} />
            </Field>
            <Field label="Kind">
              <Select
                value={kind}
                options={[
                  { value: 'text', label: 'Text' },
                  { value: 'json', label: 'JSON' },
                ]}
                onChange={setKind}
              />
            </Field>
          </div>
          <Field label="Value" error={json ?? faultOf('value')}>
            <TextInput
              value={value}
              onInput={setValue}
              rows={8}
              required={memory === null}
              spellcheck={kind === 'text'}
            />
          </Field>
          <div class="fields">
            <Field label="Tags" error={faultOf('tags')} hint="Comma-separated">
              <TextInput value={tags ?? memory?.tags.join(', ') ?? ''} onInput={setTags} />
            </Field>
            <Field label="Expires after" error={faultOf('ttl_seconds')} hint="In hours. Empty: never.">
              <TextInput type="number" min="0.01" step="any" value={hours ?? hoursLeft(memory)} onInput={setHours} />
            </Field>
          </div>
        </>
      )}
    </SubmitForm>
  )
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
