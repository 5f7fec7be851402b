import { useState } from 'preact/hooks'
import { ApiError, PATIENT_MS } from '../../api.ts'
import { Checkbox, Dialog, Field, SubmitForm, TextInput } from '../../components/components.ts'
import { usePostOnce } from '../../once.ts'
import { fieldsIn, NEW_KEY } from './key-draft.ts'
import { KeyFields } from './key-fields.tsx'
import { ShownToken } from './shown-token.tsx'

const SCOPES = [
  { scope: 'inference', label: 'Inference: model calls and memory over HTTP' },
  { scope: 'platform', label: 'Platform: wallet, tasks, sessions, this console' },
  { scope: 'admin', label: 'Admin: everything, including keys and settings' },
] as const

const LOST =
  'The key was created before, but its reply was lost, and the key cannot be shown again. Revoke it in the list of ' +
  'keys; then create another.'

/** Creates a key from its scopes and limits, and shows it once. */
export function NewKeyDialog({ onMade, onClose }: { onMade: () => void; onClose: () => void }) {
  const post = usePostOnce()
  const [scopes, setScopes] = useState<readonly string[]>(['inference'])
  const [draft, setDraft] = useState(NEW_KEY)
  const [wallet, setWallet] = useState('')
  const [made, setMade] = useState<{ key: string; name: string; warnings: string[] } | null>(null)
  const edit = (change: Partial<typeof draft>) => setDraft({ ...draft, ...change })

  const make = async () => {
    const body = { ...fieldsIn(draft), scopes, wallet: wallet.trim() || null }
    try {
      // Globs are compared with the provider's models, which takes time.
      setMade(await post('/api/keys', body, body.models === null ? {} : { timeoutMs: PATIENT_MS }))
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'idempotency_reply_not_kept') throw error
      throw new Error(LOST)
    } finally {
      onMade()
    }
  }

  if (made) {
    return <ShownToken title={`Key ${made.name}`} token={made.key} notes={made.warnings} onClose={onClose} />
  }
  return (
    <Dialog title="New key" open wide onClose={onClose}>
      <SubmitForm
        action="Create key"
        disabled={draft.name.trim() === '' || scopes.length === 0}
        onSubmit={make}
        onCancel={onClose}
      >
        {(faultOf) => (
          <>
            <Field label="Name" error={faultOf('name')} hint="Display name, to recognize the key.">
              <TextInput
                value={draft.name}
                onInput={(name) => edit({ name })}
                required
                maxLength={100}
                autoComplete="off"
              />
            </Field>
            <fieldset>
              <legend>Scopes</legend>
              {SCOPES.map(({ scope, label }) => (
                <Checkbox
                  key={scope}
                  label={label}
                  checked={scopes.includes(scope)}
                  onChange={(checked) =>
                    setScopes(checked ? [...scopes, scope] : scopes.filter((one) => one !== scope))
                  }
                />
              ))}
            </fieldset>
            <KeyFields of={draft} faultOf={faultOf} onEdit={edit} />
            <Field label="Wallet" error={faultOf('wallet')} hint="Optional. Wallet address (0x…) to bind to this key.">
              <TextInput value={wallet} onInput={setWallet} spellcheck={false} placeholder="0x…" />
            </Field>
          </>
        )}
      </SubmitForm>
    </Dialog>
  )
}
