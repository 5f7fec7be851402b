import { useState } from 'preact/hooks'
import { api } from '../api.ts'
import { Dialog, Field, notify, SubmitForm, TextInput } from '../components/index.ts'
import { amountIn } from '../typed.ts'
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

  // What was not changed here, another may have changed meanwhile.
  const change = {
    ...(credit !== textOf(of.credit_limit_usd) && { credit_limit_usd: amountIn(credit) }),
    ...(daily !== textOf(of.daily_limit_usd) && { daily_limit_usd: amountIn(daily) }),
  }
  const save = async () => {
    await api.patch(`/api/keys/${of.id}`, change)
    notify(`The limits of ${of.name} are changed.`)
    onChanged()
    onClose()
  }
  return (
    <Dialog title={`Limits of ${of.name}`} open onClose={onClose}>
      <SubmitForm action="Save limits" disabled={Object.keys(change).length === 0} onSubmit={save} onCancel={onClose}>
        {(faultOf) => (
          <>
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
            <p class="hint">Calls are held to the new limits at once here, and within 5 s in other processes.</p>
          </>
        )}
      </SubmitForm>
    </Dialog>
  )
}

const textOf = (usd: number | null): string => (usd === null ? '' : String(usd))
