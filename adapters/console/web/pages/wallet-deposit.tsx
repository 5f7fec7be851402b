import { useState } from 'preact/hooks'
import { ApiError, api } from '../api.ts'
import { Button, Dialog, ErrorNote, Field, notify, TextInput } from '../components/index.ts'
import { usd } from '../format.ts'
import { amountIn } from './wallet-limits.tsx'
import type { KeyRecord } from './wallet-records.ts'

/** Credits the account of a key. */
export function DepositDialog({ to, onClose }: { to: KeyRecord; onClose: () => void }) {
  const [amount, setAmount] = useState('')
  const [reference, setReference] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const faultOf = (field: string) => (error instanceof ApiError && error.param === field ? error.message : null)

  const deposit = async () => {
    setBusy(true)
    setError(null)
    try {
      const body = { caller_id: to.id, amount_usd: amountIn(amount), reference: reference.trim() }
      const { available_usd } = await api.post<{ available_usd: number }>('/api/wallet/metered/deposit', body)
      notify(`${to.name} now has ${usd(available_usd)}.`)
      onClose()
    } catch (fault) {
      setError(fault)
      setBusy(false)
    }
  }
  return (
    <Dialog title={`Deposit for ${to.name}`} open onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void deposit()
        }}
      >
        <Field label="Amount in USD" error={faultOf('amount_usd')}>
          <TextInput value={amount} onInput={setAmount} inputMode="decimal" required />
        </Field>
        <Field
          label="Reference"
          hint="What tells this payment from all others, such as an invoice number: it is credited once."
          error={faultOf('reference')}
        >
          <TextInput value={reference} onInput={setReference} required autoComplete="off" />
        </Field>
        {!faultOf('amount_usd') && !faultOf('reference') && <ErrorNote error={error} />}
        <div class="actions end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" busy={busy}>
            Credit the account
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
