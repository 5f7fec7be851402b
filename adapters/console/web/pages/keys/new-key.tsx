import { useState } from 'preact/hooks'
import { PATIENT_MS } from '../../api.ts'
import { Checkbox, FormDialog, FormFields } from '../../components/components.ts'
import { secretReply, usePostOnce } from '../../post-once.ts'
import { KEY_TERMS, KeyFields } from './key-fields.tsx'
import { AS, type Draft, draftOf, NAME, type Term, termsIn } from './key-terms.ts'
import { ShownToken } from './shown-token.tsx'

const SCOPES = [
  { scope: 'inference', label: 'Inference: model calls and memory over HTTP' },
  { scope: 'platform', label: 'Platform: wallet, tasks, sessions, this console' },
  { scope: 'admin', label: 'Admin: everything, including keys and settings' },
] as const

const LOST =
  'The key was created before, but its reply was lost, and the key cannot be shown again. Revoke it on its ' +
  'page; then create another.'

const WALLET: Term = {
  name: 'wallet',
  as: AS.word,
  label: 'Wallet',
  hint: 'Optional. Wallet address (0x…) to bind to this key.',
  spellcheck: false,
  placeholder: '0x…',
}

const TERMS = [...KEY_TERMS, WALLET]

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
  const [scopes, setScopes] = useState<readonly string[]>(['inference'])

  const make = async (draft: Draft) => {
    const body = { ...termsIn(TERMS, draft), scopes }
    try {
      // Globs are compared with the provider's models, which takes time.
      const options = draft.models === '' ? {} : { timeoutMs: PATIENT_MS }
      setMade(await secretReply(post('/api/keys', body, options), LOST))
    } finally {
      onMade()
    }
  }

  if (made) {
    return <ShownToken title={`Key ${made.name}`} token={made.key} notes={made.warnings} onClose={onClose} />
  }
  return (
    <FormDialog<Draft>
      title="New key"
      action="Create key"
      wide
      initial={draftOf(TERMS, { cache: 'auto' })}
      isReady={({ name }) => String(name).trim() !== '' && scopes.length > 0}
      onSubmit={make}
      onClose={onClose}
    >
      {(form) => (
        <>
          <FormFields {...form} fields={[{ ...NAME, hint: 'Display name, to recognize the key.' }]} />
          <Scopes of={scopes} onChange={setScopes} />
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
