import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { Button, Checkbox, Copy, Dialog, ErrorNote, Field, TextInput } from '../../components/index.ts'

const SCOPES = [
  { scope: 'inference', label: 'Inference: model calls and memory over HTTP' },
  { scope: 'platform', label: 'Platform: wallet, tasks, sessions, this console' },
  { scope: 'admin', label: 'Admin: everything, keys and settings too' },
] as const

/** Asks what a key is for, makes it, and shows it this once. */
export function NewKeyDialog({ onMade, onClose }: { onMade: () => void; onClose: () => void }) {
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<readonly string[]>(['inference'])
  const [daily, setDaily] = useState('')
  const [credit, setCredit] = useState('')
  const [wallet, setWallet] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const [made, setMade] = useState<{ key: string; name: string } | null>(null)

  const make = async () => {
    setBusy(true)
    setError(null)
    try {
      const limits = { daily_limit_usd: amountOf(daily), credit_limit_usd: amountOf(credit) }
      setMade(await api.post('/api/keys', { name, scopes, ...limits, wallet: wallet.trim() || null }))
      onMade()
    } catch (fault) {
      setError(fault)
    } finally {
      setBusy(false)
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
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void make()
        }}
      >
        <Field label="Name" hint="What it is for, so that you know it again.">
          <TextInput value={name} onInput={setName} required maxLength={100} autoComplete="off" />
        </Field>
        <fieldset>
          <legend>May use</legend>
          {SCOPES.map(({ scope, label }) => (
            <Checkbox
              key={scope}
              label={label}
              checked={scopes.includes(scope)}
              onChange={(checked) => setScopes(checked ? [...scopes, scope] : scopes.filter((one) => one !== scope))}
            />
          ))}
        </fieldset>
        <div class="fields">
          <Field label="Daily limit in USD" hint="Empty is no limit.">
            <TextInput value={daily} onInput={setDaily} inputMode="decimal" />
          </Field>
          <Field label="Credit in USD" hint="How far it may spend beyond its deposits; empty is the default.">
            <TextInput value={credit} onInput={setCredit} inputMode="decimal" />
          </Field>
        </div>
        <Field label="Wallet" hint="An address, 0x…, whose calls are made with this key; may be empty.">
          <TextInput value={wallet} onInput={setWallet} spellcheck={false} placeholder="0x…" />
        </Field>
        <ErrorNote error={error} />
        <div class="actions end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" busy={busy} disabled={name.trim() === '' || scopes.length === 0}>
            Make the key
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** @throws Error where it is no amount */
function amountOf(text: string): number | null {
  if (text.trim() === '') return null
  const amount = Number(text)
  if (Number.isNaN(amount)) throw new Error(`“${text}” is not an amount in USD.`)
  return amount
}
