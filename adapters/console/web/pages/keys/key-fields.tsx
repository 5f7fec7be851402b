import type { Billing } from '../../../../../src/config/sections/wallet-section.ts'
import { type Editing, type FaultOf, type FieldSpec, FormFields } from '../../components/components.ts'
import { type Groups, useGroups } from '../../use-groups.ts'
import { ALERTS } from './alert-draft.ts'
import { BudgetFields } from './budget-fields.tsx'
import type { KeyDraft } from './key-draft.ts'

const BILLINGS: { value: Billing; label: string }[] = [
  { value: 'recorded', label: 'Recorded: nothing is charged' },
  { value: 'cost', label: 'Cost: the provider’s price' },
  { value: 'metered', label: 'Metered: the cost plus a margin' },
]

/** Name of a key. */
export const NAME = { name: 'name', label: 'Name', required: true, maxLength: 100, autoComplete: 'off' } as const

/** Number without a limit while it is empty. */
const count = (name: keyof KeyDraft, label: string, at: string): FieldSpec<KeyDraft> => ({
  name,
  label,
  at,
  inputMode: 'numeric',
  placeholder: 'no limit',
})

const LIMITS: FieldSpec<KeyDraft>[] = [
  {
    name: 'credit',
    label: 'Credit in USD',
    at: 'limits.credit_limit_usd',
    hint: 'Spending limit beyond deposits. Empty: the default.',
    inputMode: 'decimal',
    placeholder: 'default',
  },
  count('requests', 'Requests per minute', 'limits.requests_per_minute'),
  count('tokens', 'Tokens per minute', 'limits.tokens_per_minute'),
  count('concurrent', 'Concurrent calls', 'limits.concurrent'),
  { ...count('sessionUsd', 'Session in USD', 'limits.session_usd'), inputMode: 'decimal' },
  count('sessionCalls', 'Calls of a session', 'limits.session_calls'),
  count('sessionMinutes', 'Minutes of a session', 'limits.session_minutes'),
]

const SCOPE: FieldSpec<KeyDraft>[] = [
  {
    name: 'models',
    label: 'Models',
    hint: 'One per line; * matches any characters. Empty: all models.',
    rows: 3,
    spellcheck: false,
    placeholder: 'gpt-*',
  },
  {
    name: 'lenient',
    label: 'What an upstream cannot express',
    hint: 'Dropped parts of a request are named in x-gazeway-changed.',
    options: [
      { value: '', label: 'Refuse the request' },
      { value: 'yes', label: 'Drop it' },
    ],
  },
  {
    name: 'cache',
    label: 'Prompt caches',
    hint: 'Marks and keys by which providers find the beginning of a session’s prompt.',
    options: [
      { value: 'auto', label: 'Set for sessions' },
      { value: 'off', label: 'Leave to the client' },
    ],
  },
  {
    name: 'expires',
    label: 'Expires',
    at: 'expires_at',
    hint: 'In the time zone of your browser. Empty: never.',
    type: 'datetime-local',
  },
]

/** All settings of a key except its name. */
export function KeyFields(form: Editing<KeyDraft> & { faultOf: FaultOf }) {
  const { group, billing, budgets } = form.draft
  const groups = groupOptions(useGroups(), group)
  const billings = billing === '' ? [{ value: '', label: 'Default' }, ...BILLINGS] : BILLINGS
  const account: FieldSpec<KeyDraft>[] = [
    { name: 'group', label: 'Group', hint: 'Its budgets also apply to the key.', options: groups },
    { name: 'billing', label: 'Billing', hint: 'Admin keys are always recorded.', options: billings },
  ]
  return (
    <>
      <FormFields {...form} fields={[account]} />
      <BudgetFields of={budgets} at="limits.budgets" {...form} />
      <FormFields {...form} fields={[ALERTS, LIMITS, ...SCOPE]} />
    </>
  )
}

/** Options of a group selection: none, all groups, and always the chosen one. */
function groupOptions({ known, nameOf }: Groups, chosen: string) {
  const listed = known.map(({ id, name }) => ({ value: id, label: name }))
  const isListed = chosen === '' || known.some(({ id }) => id === chosen)
  return [{ value: '', label: 'None' }, ...listed, ...(isListed ? [] : [{ value: chosen, label: nameOf(chosen) }])]
}
