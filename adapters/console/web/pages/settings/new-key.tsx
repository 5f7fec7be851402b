import { useState } from 'preact/hooks'
import { ApiError } from '../../api.ts'
import { Button, Checkbox, Copy, Dialog, Field, SubmitForm, TextInput } from '../../components/components.ts'
import { usePostOnce } from '../../once.ts'
import { amountIn } from '../../typed.ts'

const SCOPES = [
  { scope: 'inference', label: 'Inference: model calls and memory over HTTP' },
  { scope: 'platform', label: 'Platform: wallet, tasks, sessions, this console' },
  { scope: 'admin', label: 'Admin: everything, keys and settings too' },
] as const

const LOST =
  'The key was made before, but the reply that shows it was lost, and nothing can show it again. Revoke it in the list of ' +
  'keys; then make another.'

/** Asks what a key is for, makes it, and shows it this once. */
export function NewKeyDialog({ onMade, onClose }: { onMade: () => void; onClose: () => void }) {
  const post = usePostOnce()
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<readonly string[]>(['inference'])
  const [daily, setDaily] = useState('')
  const [credit, setCredit] = useState('')
  const [wallet, setWallet] = useState('')
  const [made, setMade] = useState<{ key: string; name: string } | null>(null)

  const make = async () => {
    const usd = amountIn(daily)
    const budgets = usd === null ? [] : [{ usd, per: 'day' }]
    const limits = { budgets, credit_limit_usd: amountIn(credit) }
    try {
      setMade(await post('/api/keys', { name, scopes, limits, wallet: wallet.trim() || null }))
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'idempotency_reply_not_kept') throw error
      throw new Error(LOST)
    } finally {
      onMade()
    }
  }

  if (made) {
    return (
      <Dialog title={`The key of ${made.name}`} open onClose={onClose}>
        <p>Copy it now: it is not kept, and nothing can show it again.</p>
        <Copy text={made.key} label="Copy the key" />
        <div class="actions end">
          <Button tone="primary" onClick={onClose}>
            I have it
          </Button>
        </div>
      </Dialog>
    )
  }
  return (
    <Dialog title="Make a key" open onClose={onClose}>
      <SubmitForm
        action="Make the key"
        disabled={name.trim() === '' || scopes.length === 0}
        onSubmit={make}
        onCancel={onClose}
      >
        {(faultOf) => (
          <>
            <Field label="Name" error={faultOf('name')} hint="What it is for, so that you know it again.">
              <TextInput value={name} onInput={setName} required maxLength={100} autoComplete="off" />
            </Field>
            <fieldset>
              <legend>May use</legend>
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
            <div class="fields">
              <Field label="Daily limit in USD" error={faultOf('limits.budgets.0.usd')} hint="Empty is no limit.">
                <TextInput value={daily} onInput={setDaily} inputMode="decimal" />
              </Field>
              <Field
                label="Credit in USD"
                error={faultOf('limits.credit_limit_usd')}
                hint="How far it may spend beyond its deposits; empty is the default."
              >
                <TextInput value={credit} onInput={setCredit} inputMode="decimal" />
              </Field>
            </div>
            <Field
              label="Wallet"
              error={faultOf('wallet')}
              hint="An address, 0x…, whose calls are made with this key; may be empty."
            >
              <TextInput value={wallet} onInput={setWallet} spellcheck={false} placeholder="0x…" />
            </Field>
          </>
        )}
      </SubmitForm>
    </Dialog>
  )
}
