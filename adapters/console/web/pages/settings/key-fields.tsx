import type { Billing } from '../../../../../src/config/sections/wallet-section.ts'
import { type FaultOf, Field, Select, TextInput } from '../../components/components.ts'
import { type Groups, useGroups } from '../../use-groups.ts'
import { AlertsField } from './alerts-field.tsx'
import { BudgetFields } from './budget-fields.tsx'
import type { KeyDraft } from './key-draft.ts'

const BILLINGS: { value: Billing; label: string }[] = [
  { value: 'recorded', label: 'Recorded: nothing is charged' },
  { value: 'cost', label: 'Cost: the provider’s price' },
  { value: 'metered', label: 'Metered: the cost plus a margin' },
]

/** Number fields of a key. */
const COUNTS = [
  { name: 'requests', label: 'Requests per minute', at: 'limits.requests_per_minute' },
  { name: 'tokens', label: 'Tokens per minute', at: 'limits.tokens_per_minute' },
  { name: 'concurrent', label: 'Concurrent calls', at: 'limits.concurrent' },
] as const

/** All settings of a key except its name. @param onEdit called with each change */
export function KeyFields(props: { of: KeyDraft; faultOf: FaultOf; onEdit: (change: Partial<KeyDraft>) => void }) {
  const { of, faultOf, onEdit } = props
  const groups = useGroups()
  return (
    <>
      <div class="fields">
        <Field label="Group" error={faultOf('group')} hint="Its budgets also apply to the key.">
          <Select value={of.group} options={groupOptions(groups, of.group)} onChange={(group) => onEdit({ group })} />
        </Field>
        <Field label="Billing" error={faultOf('billing')} hint="Admin keys are always recorded.">
          <Select<Billing | ''>
            value={of.billing}
            options={of.billing === '' ? [{ value: '', label: 'Default' }, ...BILLINGS] : BILLINGS}
            onChange={(billing) => onEdit({ billing })}
          />
        </Field>
      </div>
      <BudgetFields of={of.budgets} at="limits.budgets" faultOf={faultOf} onEdit={(budgets) => onEdit({ budgets })} />
      <AlertsField of={of.alerts} faultOf={faultOf} onEdit={(alerts) => onEdit({ alerts })} />
      <div class="fields">
        <Field
          label="Credit in USD"
          error={faultOf('limits.credit_limit_usd')}
          hint="Spending limit beyond deposits. Empty: the default."
        >
          <TextInput
            value={of.credit}
            onInput={(credit) => onEdit({ credit })}
            inputMode="decimal"
            placeholder="default"
          />
        </Field>
        {COUNTS.map(({ name, label, at }) => (
          <Field key={name} label={label} error={faultOf(at)}>
            <TextInput
              value={of[name]}
              onInput={(text) => onEdit({ [name]: text })}
              inputMode="numeric"
              placeholder="no limit"
            />
          </Field>
        ))}
      </div>
      <Field label="Models" error={faultOf('models')} hint="One per line; * matches any characters. Empty: all models.">
        <TextInput
          rows={3}
          value={of.models}
          onInput={(models) => onEdit({ models })}
          spellcheck={false}
          placeholder="gpt-*"
        />
      </Field>
      <Field label="Expires" error={faultOf('expires_at')} hint="In the time zone of your browser. Empty: never.">
        <TextInput type="datetime-local" value={of.expires} onInput={(expires) => onEdit({ expires })} />
      </Field>
    </>
  )
}

/** Options of a group selection: none, all groups, and always the chosen one. */
function groupOptions({ known, nameOf }: Groups, chosen: string) {
  const listed = known.map(({ id, name }) => ({ value: id, label: name }))
  const isListed = chosen === '' || known.some(({ id }) => id === chosen)
  return [{ value: '', label: 'None' }, ...listed, ...(isListed ? [] : [{ value: chosen, label: nameOf(chosen) }])]
}
