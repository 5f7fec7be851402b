import { useState } from 'preact/hooks'
import { PATIENT_MS } from '../../api.ts'
import { Checkbox, type FieldSpec, FormDialog, FormFields } from '../../components/components.ts'
import { secretReply, usePostOnce } from '../../once.ts'
import { fieldsIn, type KeyDraft, NEW_KEY } from './key-draft.ts'
import { KeyFields, NAME } from './key-fields.tsx'
import { ShownToken } from './shown-token.tsx'

const SCOPES = [
  { scope: 'inference', label: 'Inference: model calls and memory over HTTP' },
  { scope: 'platform', label: 'Platform: wallet, tasks, sessions, this console' },
  { scope: 'admin', label: 'Admin: everything, including keys and settings' },
] as const

const LOST =
  'The key was created before, but its reply was lost, and the key cannot be shown again. Revoke it in the list of ' +
  'keys; then create another.'

const WALLET: FieldSpec<NewKeyDraft> = {
  name: 'wallet',
  label: 'Wallet',
  hint: 'Optional. Wallet address (0x…) to bind to this key.',
  spellcheck: false,
  placeholder: '0x…',
}

/** New key while it is edited. */
interface NewKeyDraft extends KeyDraft {
  scopes: readonly string[]
  wallet: string
}

/** Fields of the reply that are shown. */
interface NewlyMade {
  key: string
  name: string
  warnings: string[]
}

/** Creates a key from its scopes and limits, and shows it once. */
export function NewKeyDialog({ onMade, onClose }: { onMade: () => void; onClose: () => void }) {
  const post = usePostOnce()
  const [made, setMade] = useState<NewlyMade | null>(null)

  const make = async ({ scopes, wallet, ...draft }: NewKeyDraft) => {
    const body = { ...fieldsIn(draft), scopes, wallet: wallet.trim() || null }
    try {
      // Globs are compared with the provider's models, which takes time.
      const options = body.models === null ? {} : { timeoutMs: PATIENT_MS }
      setMade(await secretReply(post('/api/keys', body, options), LOST))
    } finally {
      onMade()
    }
  }

  if (made) {
    return <ShownToken title={`Key ${made.name}`} token={made.key} notes={made.warnings} onClose={onClose} />
  }
  return (
    <FormDialog<NewKeyDraft>
      title="New key"
      action="Create key"
      wide
      initial={{ ...NEW_KEY, scopes: ['inference'], wallet: '' }}
      isReady={({ name, scopes }) => name.trim() !== '' && scopes.length > 0}
      onSubmit={make}
      onClose={onClose}
    >
      {(form) => (
        <>
          <FormFields {...form} fields={[{ ...NAME, hint: 'Display name, to recognize the key.' }]} />
          <Scopes of={form.draft.scopes} onChange={(scopes) => form.edit({ scopes })} />
          <KeyFields {...form} />
          <FormFields {...form} fields={[WALLET]} />
        </>
      )}
    </FormDialog>
  )
}

function Scopes({ of, onChange }: { of: readonly string[]; onChange: (scopes: readonly string[]) => void }) {
  return (
    <fieldset>
      <legend>Scopes</legend>
      {SCOPES.map(({ scope, label }) => (
        <Checkbox
          key={scope}
          label={label}
          checked={of.includes(scope)}
          onChange={(checked) => onChange(checked ? [...of, scope] : of.filter((one) => one !== scope))}
        />
      ))}
    </fieldset>
  )
}
