import { useState } from 'preact/hooks'
import type { KeyRecord } from '../../../../../src/identity/key.ts'
import { api } from '../../api.ts'
import { Dialog, Field, notify, SubmitForm, TextInput } from '../../components/components.ts'
import { amountIn } from '../../typed.ts'
import { dailyBudget } from './daily-budget.ts'

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
  const { credit_limit_usd, budgets } = of.limits
  const dailyUsd = dailyBudget(of.limits)
  const [credit, setCredit] = useState(textOf(credit_limit_usd))
  const [daily, setDaily] = useState(textOf(dailyUsd))

  // What was not changed here, another may have changed meanwhile.
  const change = {
    ...(credit !== textOf(credit_limit_usd) && { credit_limit_usd: amountIn(credit) }),
    ...(daily !== textOf(dailyUsd) && { budgets: withDaily(budgets, amountIn(daily)) }),
  }
  const save = async () => {
    await api.patch(`/api/keys/${of.id}`, { limits: change })
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
              error={faultOf('limits.credit_limit_usd')}
            >
              <TextInput value={credit} onInput={setCredit} inputMode="decimal" placeholder="default" />
            </Field>
            <Field
              label="Spending in a day, in USD"
              hint="From 00:00 UTC. Empty: no limit."
              error={faultOf('limits.budgets.0.usd')}
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

/** The budgets with another one of the day, which is the first. */
const withDaily = (budgets: KeyRecord['limits']['budgets'], usd: ReturnType<typeof amountIn>) => [
  ...(usd === null ? [] : [{ usd, per: 'day' }]),
  ...budgets.filter(({ per }) => per !== 'day'),
]

const textOf = (usd: number | null): string => (usd === null ? '' : String(usd))
