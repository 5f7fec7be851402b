import type { KeyRecord } from '../../../../../src/identity/key.ts'
import { api, PATIENT_MS } from '../../api.ts'
import { FormDialog, FormFields, notify } from '../../components/components.ts'
import { KEY_TERMS, KeyFields } from './key-fields.tsx'
import { type Draft, draftOf, NAME, termsIn } from './key-terms.ts'

/** Changes limits, group, billing, expiry or name of a key. Sends only the changed fields. */
export function EditKeyDialog(props: { of: KeyRecord; onClose: () => void; onChanged: () => void }) {
  const { of, onClose, onChanged } = props
  const save = async (draft: Draft, was: Draft) => {
    const changes = termsIn(KEY_TERMS, draft, was)
    // Globs are compared with the provider's models, which takes time.
    const options = 'models' in changes ? { timeoutMs: PATIENT_MS } : {}
    const saved = await api.patch(`/api/keys/${of.id}`, changes, options)
    notify(`Saved ${saved.name}.`)
    for (const warning of saved.warnings) notify(warning, 'warn')
    onChanged()
    onClose()
  }
  return (
    <FormDialog<Draft>
      title={`Edit ${of.name}`}
      action="Save key"
      wide
      initial={draftOf(KEY_TERMS, of)}
      isReady={(draft, was) => Object.keys(termsIn(KEY_TERMS, draft, was)).length > 0}
      onSubmit={save}
      onClose={onClose}
    >
      {(form) => (
        <>
          <FormFields {...form} fields={[NAME]} />
          <KeyFields {...form} />
          <p class="hint">New limits apply to calls at once in this process, and within 5 s in others.</p>
        </>
      )}
    </FormDialog>
  )
}
