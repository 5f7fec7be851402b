import { useState } from 'preact/hooks'
import { ApiError, api } from '../api.ts'
import { Button, Dialog, ErrorNote, Field, notify, TextInput } from '../components/index.ts'
import type { KeyRecord } from './wallet-records.ts'

/** Changes how far a key may spend. */
export function LimitsDialog({
  of,
  onClose,
  onChanged,
}: {
  of: KeyRecord
  onClose: () => void
  onChanged: () => void
}) {
  const [credit, setCredit] = useState(textOf(of.credit_limit_usd))
  const [daily, setDaily] = useState(textOf(of.daily_limit_usd))
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const faultOf = (field: string) => (error instanceof ApiError && error.param === field ? error.message : null)

  const save = async () => {
    setBusy(true)
    setError(null)
    try {
      await api.patch(`/api/keys/${of.id}`, { credit_limit_usd: amountIn(credit), daily_limit_usd: amountIn(daily) })
      notify(`The limits of ${of.name} are changed.`)
      onChanged()
      onClose()
    } catch (fault) {
      setError(fault)
      setBusy(false)
    }
  }
  return (
    <Dialog title={`Limits of ${of.name}`} open onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        <Field
          label="Credit in USD"
          hint="How far the account may go below zero. Empty: the default of this Gazeway."
          error={faultOf('credit_limit_usd')}
        >
          <TextInput value={credit} onInput={setCredit} inputMode="decimal" placeholder="default" />
        </Field>
        <Field
          label="Spending in a day, in USD"
          hint="From 00:00 UTC. Empty: no limit."
          error={faultOf('daily_limit_usd')}
        >
          <TextInput value={daily} onInput={setDaily} inputMode="decimal" placeholder="no limit" />
        </Field>
        {!faultOf('credit_limit_usd') && !faultOf('daily_limit_usd') && <ErrorNote error={error} />}
        <p class="hint">Calls are held to the new limits within 5 s.</p>
        <div class="actions end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" busy={busy}>
            Save limits
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

const textOf = (usd: number | null): string => (usd === null ? '' : String(usd))

/** What was typed, for the API to judge: null where there is nothing, a number where it is one. */
export function amountIn(text: string): number | string | null {
  if (text.trim() === '') return null
  const amount = Number(text)
  return Number.isFinite(amount) ? amount : text
}
