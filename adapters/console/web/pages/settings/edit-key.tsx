import { useState } from 'preact/hooks'
import type { KeyRecord } from '../../../../../src/identity/key.ts'
import { api, PATIENT_MS } from '../../api.ts'
import { Dialog, Field, notify, SubmitForm, TextInput } from '../../components/components.ts'
import { changesIn, draftOf } from './key-draft.ts'
import { KeyFields } from './key-fields.tsx'
import './settings.css'

/** Changes limits, group, billing, expiry or name of a key. Sends only the changed fields. */
export function EditKeyDialog(props: { of: KeyRecord; onClose: () => void; onChanged: () => void }) {
  const { of, onClose, onChanged } = props
  const [was] = useState(() => draftOf(of))
  const [draft, setDraft] = useState(was)
  const edit = (change: Partial<typeof draft>) => setDraft({ ...draft, ...change })
  const changes = changesIn(was, draft)

  const save = async () => {
    // Globs are compared with the provider's models, which takes time.
    const options = 'models' in changes ? { timeoutMs: PATIENT_MS } : {}
    const { name, warnings } = await api.patch<{ name: string; warnings: string[] }>(
      `/api/keys/${of.id}`,
      changes,
      options,
    )
    notify(`Saved ${name}.`)
    for (const warning of warnings) notify(warning, 'warn')
    onChanged()
    onClose()
  }
  return (
    <Dialog title={`Edit ${of.name}`} open wide onClose={onClose}>
      <SubmitForm action="Save key" disabled={Object.keys(changes).length === 0} onSubmit={save} onCancel={onClose}>
        {(faultOf) => (
          <>
            <Field label="Name" error={faultOf('name')}>
              <TextInput
                value={draft.name}
                onInput={(name) => edit({ name })}
                required
                maxLength={100}
                autoComplete="off"
              />
            </Field>
            <KeyFields of={draft} faultOf={faultOf} onEdit={edit} />
            <p class="hint">New limits apply to calls at once in this process, and within 5 s in others.</p>
          </>
        )}
      </SubmitForm>
    </Dialog>
  )
}
