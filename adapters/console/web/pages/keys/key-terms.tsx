import type { AlertRecord } from '../../../../../src/identity/alert-thresholds.ts'
import type { BudgetRecord } from '../../../../../src/identity/budgets.ts'
import type { Period } from '../../../../../src/text/period.ts'
import type { components } from '../../api-types.ts'
import { PERIOD_OPTIONS } from '../../components/budgets.tsx'
import {
  Button,
  type Editing,
  type FaultOf,
  Field,
  type FieldSpec,
  FormFields,
  Select,
  TextInput,
} from '../../components/forms.ts'
import { valueAt } from '../../schema/schema.ts'
import { amountIn, amountText, lines, timeIn, timeText } from '../../typed.ts'
import { groupOptions, useGroups } from '../../use-groups.ts'
import './keys.css'

/** Budget while it is edited. */
interface BudgetDraft {
  usd: string
  per: Period
}

/** Terms of a key or group while they are edited, by their path in the API: text, or budgets. */
export type Draft = Readonly<Record<string, string | readonly BudgetDraft[]>>

/** Shows a value of the API for editing, and reads it again. The API validates what is read. */
interface Conversion {
  shown: (value: never) => Draft[string]
  read: (edited: never) => unknown
}

/** Field of a term: its name is the path of its value, such as `limits.concurrent`. */
export type Term = FieldSpec<Draft> & { as: Conversion }

type Schemas = components['schemas']
type PathsOf<Sent extends { limits?: object }> =
  | Exclude<keyof Sent, 'limits' | 'scopes'>
  | `limits.${keyof NonNullable<Sent['limits']> & string}`
/** A term for each field that a request may hold: a field without one does not compile. */
type TermsOf<Sent extends { limits?: object }> = Readonly<Record<PathsOf<Sent> & string, Omit<Term, 'name'>>>

/** Conversions of terms. Empty text is null: no limit, none, all or never. */
const AS = {
  name: { shown: (name = '') => name, read: (text: string) => text },
  word: { shown: (word: string | null = null) => word ?? '', read: (text: string) => text.trim() || null },
  // The default of the configuration is sent as no value.
  choice: { shown: (choice = '') => choice, read: (text: string) => text || undefined },
  yes: { shown: (is = false) => (is ? 'yes' : ''), read: (text: string) => text === 'yes' },
  amount: { shown: (amount: number | null = null) => amountText(amount), read: amountIn },
  time: { shown: (at: string | null = null) => timeText(at), read: timeIn },
  lines: {
    shown: (list: readonly string[] | null = null) => (list ?? []).join('\n'),
    read: (text: string) => (lines(text).length === 0 ? null : lines(text)),
  },
  budgets: {
    shown: (budgets: readonly BudgetRecord[] = []) => budgets.map(({ usd, per }) => ({ usd: String(usd), per })),
    read: (drafts: readonly BudgetDraft[]) => drafts.map(({ usd, per }) => ({ usd: amountIn(usd), per })),
  },
  repeats: {
    shown: (of: { times: number; minutes: number } | null = null) => (of === null ? '' : `${of.times}/${of.minutes}`),
    read(text: string) {
      const [, times, minutes] = /^\s*(\d+)\s*\/\s*(\d+)\s*$/.exec(text) ?? []
      return times === undefined ? text.trim() || null : { times: Number(times), minutes: Number(minutes) }
    },
  },
  // Percentages, separated by commas or spaces.
  alerts: {
    shown: (alerts: readonly AlertRecord[] = []) => alerts.map(({ at }) => String(Math.round(at * 100))).join(', '),
    read: (text: string) =>
      text
        .split(/[\s,;%]+/)
        .filter((part) => part !== '')
        .map((part) => ({ at: shareIn(part), of: 'budget' })),
  },
} satisfies Record<string, Conversion>

/** Converts 80 to 0.8. Text that is not a number stays as typed. */
function shareIn(percent: string): number | string | null {
  const amount = amountIn(percent)
  return typeof amount === 'number' ? amount / 100 : amount
}

/** Converts a key or group for editing; an empty object for a new one. */
export const draftOf = (terms: readonly Term[], of: object): Draft =>
  Object.fromEntries(terms.map(({ name, as }) => [name, as.shown(valueAt({ ...of }, name) as never)]))

/** Parses the terms of a draft into a request. @param was sends only what differs: somebody else may have changed the rest */
export function termsIn(terms: readonly Term[], draft: Draft, was?: Draft): Record<string, unknown> {
  const sent: Record<string, unknown> = {}
  const limits: Record<string, unknown> = {}
  for (const { name, as } of terms) {
    const [before, after] = [was, draft].map((one) => one && as.read(one[name] as never))
    if (was && JSON.stringify(before) === JSON.stringify(after)) continue
    if (name.startsWith('limits.')) limits[name.slice('limits.'.length)] = after
    else sent[name] = after
  }
  return Object.keys(limits).length > 0 ? { ...sent, limits } : sent
}

/**
 * Fields for any number of budgets, one for each period.
 *
 * @param at path of the budgets in the draft and the request
 */
function BudgetFields(props: Editing<Draft> & { at: string; faultOf: FaultOf }) {
  const { draft, at, faultOf } = props
  const of = draft[at] as readonly BudgetDraft[]
  const onEdit = (budgets: readonly BudgetDraft[]) => props.edit({ [at]: budgets })
  const free = PERIOD_OPTIONS.filter(({ value }) => !of.some(({ per }) => per === value))
  const next = free[0]?.value
  const edit = (i: number, change: Partial<BudgetDraft>) =>
    onEdit(of.map((budget, j) => (j === i ? { ...budget, ...change } : budget)))

  return (
    <fieldset>
      <legend>Budgets</legend>
      {of.length === 0 && <p class="hint">No limit.</p>}
      {of.map(({ usd, per }, i) => (
        <div key={i} class="budget">
          <Field label={`Budget ${i + 1} in USD`} error={faultOf(`${at}.${i}`)}>
            <TextInput value={usd} onInput={(text) => edit(i, { usd: text })} inputMode="decimal" autoComplete="off" />
          </Field>
          <Field label={`Period ${i + 1}`}>
            <Select<Period>
              value={per}
              options={PERIOD_OPTIONS.filter((one) => one.value === per || free.includes(one))}
              onChange={(chosen) => edit(i, { per: chosen })}
            />
          </Field>
          <Button size="small" label={`Remove budget ${i + 1}`} onClick={() => onEdit(of.toSpliced(i, 1))}>
            Remove
          </Button>
        </div>
      ))}
      <div class="actions">
        {next && (
          <Button size="small" onClick={() => onEdit([...of, { usd: '', per: next }])} children="Add a budget" />
        )}
      </div>
    </fieldset>
  )
}

/** Number without a limit while it is empty. */
const limit = (label: string, inputMode: 'numeric' | 'decimal' = 'numeric') => ({
  as: AS.amount,
  label,
  inputMode,
  placeholder: 'no limit',
})

/** Terms of a group, which a key has, too. */
const COMMON = {
  name: { as: AS.name, label: 'Name', required: true, maxLength: 100, autoComplete: 'off' },
  alerts: {
    as: AS.alerts,
    label: 'Alerts at, in percent of a budget',
    hint: 'Such as 50, 80. Each sends one alert per budget and period to alerts.webhook_url. Empty: no alerts.',
    inputMode: 'text',
    placeholder: 'none',
    autoComplete: 'off',
  },
  'limits.session_usd': limit('Session in USD', 'decimal'),
  'limits.session_calls': limit('Calls of a session'),
  'limits.session_minutes': limit('Minutes of a session'),
  'limits.repeats': {
    as: AS.repeats,
    label: 'Repeats in a session',
    hint: 'Such as 5/10: the same request or result at most 5 times in 10 minutes.',
    placeholder: 'no limit',
  },
} as const

const GROUP: TermsOf<Schemas['NewGroup']> = { ...COMMON, budgets: { as: AS.budgets, label: 'Budgets' } }

const { name, alerts, ...OF_SESSIONS } = COMMON
const KEY: TermsOf<Schemas['NewKey']> = {
  name,
  group: { as: AS.word, label: 'Group', hint: 'Its budgets also apply to the key.' },
  billing: { as: AS.choice, label: 'Billing', hint: 'Admin keys are always recorded.' },
  'limits.budgets': { as: AS.budgets, label: 'Budgets' },
  alerts,
  'limits.credit_limit_usd': {
    ...limit('Credit in USD', 'decimal'),
    hint: 'Spending limit beyond deposits. Empty: the default.',
    placeholder: 'default',
  },
  'limits.requests_per_minute': limit('Requests per minute'),
  'limits.tokens_per_minute': limit('Tokens per minute'),
  'limits.concurrent': limit('Concurrent calls'),
  ...OF_SESSIONS,
  models: {
    as: AS.lines,
    label: 'Models',
    hint: 'One per line; * matches any characters. Empty: all models.',
    rows: 3,
    spellcheck: false,
    placeholder: 'gpt-*',
  },
  lenient: {
    as: AS.yes,
    label: 'What an upstream cannot express',
    hint: 'Dropped parts of a request are named in x-gazeway-changed.',
    options: [
      { value: '', label: 'Refuse the request' },
      { value: 'yes', label: 'Drop it' },
    ],
  },
  cache: {
    as: AS.choice,
    label: 'Prompt caches',
    hint: 'Marks and keys by which providers find the beginning of a session’s prompt.',
    options: [
      { value: 'auto', label: 'Set for sessions' },
      { value: 'off', label: 'Leave to the client' },
    ],
  },
  expires_at: {
    as: AS.time,
    label: 'Expires',
    hint: 'In the time zone of your browser. Empty: never.',
    type: 'datetime-local',
  },
  wallet: {
    as: AS.word,
    label: 'Wallet',
    hint: 'Optional. Wallet address (0x…) to bind to this key.',
    spellcheck: false,
    placeholder: '0x…',
  },
}

const named = (terms: Readonly<Record<string, Omit<Term, 'name'>>>): Term[] =>
  Object.entries(terms).map(([name, term]) => ({ name, ...term }))

/** Terms of a group, of a new key, and of a key that is changed: its wallet stays. */
export const GROUP_TERMS = named(GROUP)
export const NEW_KEY_TERMS = named(KEY)
export const KEY_TERMS = NEW_KEY_TERMS.filter(({ name }) => name !== 'wallet')

const BILLINGS = [
  { value: 'recorded', label: 'Recorded: nothing is charged' },
  { value: 'cost', label: 'Cost: the provider’s price' },
  { value: 'metered', label: 'Metered: the cost plus a margin' },
]

/** All terms of a key or a group besides the name: budgets, then limits side by side, then the others. */
export function TermFields({ terms, ...form }: Editing<Draft> & { faultOf: FaultOf; terms: readonly Term[] }) {
  const isOfKey = terms !== GROUP_TERMS
  const groups = [{ value: '', label: 'None' }, ...groupOptions(useGroups(isOfKey), String(form.draft.group ?? ''))]
  const billings = form.draft.billing === '' ? [{ value: '', label: 'Default' }, ...BILLINGS] : BILLINGS
  const choices = [
    { name: 'group', ...KEY.group, options: groups },
    { name: 'billing', ...KEY.billing, options: billings },
  ]
  const isNumber = ({ name }: Term) => name.startsWith('limits.') && name !== 'limits.budgets'
  const others = terms.slice(terms.findIndex(({ name }) => name === 'models'))
  return (
    <>
      {isOfKey && <FormFields {...form} fields={[choices]} />}
      <BudgetFields at={isOfKey ? 'limits.budgets' : 'budgets'} {...form} />
      <FormFields
        {...form}
        fields={[{ name: 'alerts', ...alerts }, terms.filter(isNumber), ...(isOfKey ? others : [])]}
      />
    </>
  )
}
