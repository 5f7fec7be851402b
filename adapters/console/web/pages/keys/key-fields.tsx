import { type Editing, type FaultOf, FormFields } from '../../components/components.ts'
import { groupOptions, useGroups } from '../../use-groups.ts'
import { BudgetFields } from './budget-fields.tsx'
import { ALERTS, AS, type Draft, NAME, type Term } from './key-terms.ts'

const BILLINGS = [
  { value: 'recorded', label: 'Recorded: nothing is charged' },
  { value: 'cost', label: 'Cost: the provider’s price' },
  { value: 'metered', label: 'Metered: the cost plus a margin' },
]
const GROUP: Term = { name: 'group', as: AS.word, label: 'Group', hint: 'Its budgets also apply to the key.' }
const BILLING: Term = { name: 'billing', as: AS.choice, label: 'Billing', hint: 'Admin keys are always recorded.' }
const BUDGETS: Term = { name: 'limits.budgets', as: AS.budgets, label: 'Budgets' }

/** Number without a limit while it is empty. */
const limit = (name: string, label: string, inputMode: 'numeric' | 'decimal' = 'numeric'): Term => ({
  name: `limits.${name}`,
  as: AS.amount,
  label,
  inputMode,
  placeholder: 'no limit',
})

const LIMITS: Term[] = [
  {
    ...limit('credit_limit_usd', 'Credit in USD', 'decimal'),
    hint: 'Spending limit beyond deposits. Empty: the default.',
    placeholder: 'default',
  },
  limit('requests_per_minute', 'Requests per minute'),
  limit('tokens_per_minute', 'Tokens per minute'),
  limit('concurrent', 'Concurrent calls'),
  limit('session_usd', 'Session in USD', 'decimal'),
  limit('session_calls', 'Calls of a session'),
  limit('session_minutes', 'Minutes of a session'),
]

const SCOPE: Term[] = [
  {
    name: 'models',
    as: AS.lines,
    label: 'Models',
    hint: 'One per line; * matches any characters. Empty: all models.',
    rows: 3,
    spellcheck: false,
    placeholder: 'gpt-*',
  },
  {
    name: 'lenient',
    as: AS.yes,
    label: 'What an upstream cannot express',
    hint: 'Dropped parts of a request are named in x-gazeway-changed.',
    options: [
      { value: '', label: 'Refuse the request' },
      { value: 'yes', label: 'Drop it' },
    ],
  },
  {
    name: 'cache',
    as: AS.choice,
    label: 'Prompt caches',
    hint: 'Marks and keys by which providers find the beginning of a session’s prompt.',
    options: [
      { value: 'auto', label: 'Set for sessions' },
      { value: 'off', label: 'Leave to the client' },
    ],
  },
  {
    name: 'expires_at',
    as: AS.time,
    label: 'Expires',
    hint: 'In the time zone of your browser. Empty: never.',
    type: 'datetime-local',
  },
]

/** Terms of a key. */
export const KEY_TERMS: readonly Term[] = [NAME, GROUP, BILLING, BUDGETS, ALERTS, ...LIMITS, ...SCOPE]

/** All settings of a key except its name. */
export function KeyFields(form: Editing<Draft> & { faultOf: FaultOf }) {
  const groups = [{ value: '', label: 'None' }, ...groupOptions(useGroups(), String(form.draft.group))]
  const billings = form.draft.billing === '' ? [{ value: '', label: 'Default' }, ...BILLINGS] : BILLINGS
  return (
    <>
      <FormFields
        {...form}
        fields={[
          [
            { ...GROUP, options: groups },
            { ...BILLING, options: billings },
          ],
        ]}
      />
      <BudgetFields at={BUDGETS.name} {...form} />
      <FormFields {...form} fields={[ALERTS, LIMITS, ...SCOPE]} />
    </>
  )
}
