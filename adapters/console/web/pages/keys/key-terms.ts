import type { AlertRecord } from '../../../../../src/identity/alert-thresholds.ts'
import type { BudgetRecord, Period } from '../../../../../src/identity/budgets.ts'
import type { FieldSpec } from '../../components/components.ts'
import { valueAt } from '../../schema/schema.ts'
import { amountIn, amountText, lines, timeIn, timeText } from '../../typed.ts'

/** Budget while it is edited. */
export interface BudgetDraft {
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

/** Conversions of terms. Empty text is null: no limit, none, all or never. */
export const AS = {
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

/** Shares of each budget at which an alert is sent. */
export const ALERTS: Term = {
  name: 'alerts',
  as: AS.alerts,
  label: 'Alerts at, in percent of a budget',
  hint: 'Such as 50, 80. Each sends one alert per budget and period to alerts.webhook_url. Empty: no alerts.',
  inputMode: 'text',
  placeholder: 'none',
  autoComplete: 'off',
}

/** Name of a key or group. */
export const NAME: Term = {
  name: 'name',
  as: AS.name,
  label: 'Name',
  required: true,
  maxLength: 100,
  autoComplete: 'off',
}
