import type { Billing } from '../../../../../src/config/sections/wallet-section.ts'
import type { KeyRecord } from '../../../../../src/identity/key.ts'
import { amountIn, amountText, lines, timeIn, timeText } from '../../typed.ts'
import { alertsIn, alertsText } from './alert-draft.ts'
import { type BudgetDraft, budgetDrafts, budgetsIn } from './budget-draft.ts'

/** Terms of a key while they are edited. */
export interface KeyDraft {
  name: string
  /** Id of its group; empty for none. */
  group: string
  /** Empty for the default of the configuration. */
  billing: Billing | ''
  credit: string
  budgets: readonly BudgetDraft[]
  /** Percentages of a budget. */
  alerts: string
  requests: string
  tokens: string
  concurrent: string
  sessionUsd: string
  sessionCalls: string
  sessionMinutes: string
  /** One glob per line; empty for all models. */
  models: string
  /** Empty for no. */
  lenient: 'yes' | ''
  cache: KeyRecord['cache']
  /** Time in the reader's zone; empty for never. */
  expires: string
}

/** Draft of a new key, without limits. */
export const NEW_KEY: KeyDraft = {
  name: '',
  group: '',
  billing: '',
  credit: '',
  budgets: [],
  alerts: '',
  requests: '',
  tokens: '',
  concurrent: '',
  sessionUsd: '',
  sessionCalls: '',
  sessionMinutes: '',
  models: '',
  lenient: '',
  cache: 'auto',
  expires: '',
}

/** Converts a key for editing. */
export const draftOf = ({
  name,
  group,
  billing,
  limits,
  alerts,
  models,
  lenient,
  cache,
  expires_at,
}: KeyRecord): KeyDraft => ({
  name,
  group: group ?? '',
  billing,
  credit: amountText(limits.credit_limit_usd),
  budgets: budgetDrafts(limits.budgets),
  alerts: alertsText(alerts),
  requests: amountText(limits.requests_per_minute),
  tokens: amountText(limits.tokens_per_minute),
  concurrent: amountText(limits.concurrent),
  sessionUsd: amountText(limits.session_usd),
  sessionCalls: amountText(limits.session_calls),
  sessionMinutes: amountText(limits.session_minutes),
  models: (models ?? []).join('\n'),
  lenient: lenient ? 'yes' : '',
  cache,
  expires: timeText(expires_at),
})

/** Parses a draft into fields of the API, which validates them. */
export function fieldsIn(draft: KeyDraft) {
  const models = lines(draft.models)
  return {
    name: draft.name,
    group: draft.group || null,
    billing: draft.billing || undefined,
    limits: {
      credit_limit_usd: amountIn(draft.credit),
      budgets: budgetsIn(draft.budgets),
      requests_per_minute: amountIn(draft.requests),
      tokens_per_minute: amountIn(draft.tokens),
      concurrent: amountIn(draft.concurrent),
      session_usd: amountIn(draft.sessionUsd),
      session_calls: amountIn(draft.sessionCalls),
      session_minutes: amountIn(draft.sessionMinutes),
    },
    alerts: alertsIn(draft.alerts),
    models: models.length === 0 ? null : models,
    lenient: draft.lenient === 'yes',
    cache: draft.cache,
    expires_at: timeIn(draft.expires),
  }
}

/**
 * Fields that differ between two drafts. Unchanged fields are not sent, because somebody else may have changed them.
 */
export function changesIn(was: KeyDraft, is: KeyDraft): Partial<Record<string, unknown>> {
  const [before, after] = [fieldsIn(was), fieldsIn(is)]
  const limits = differing(before.limits, after.limits)
  const { limits: _, ...others } = differing(before, after)
  return { ...others, ...(Object.keys(limits).length > 0 && { limits }) }
}

/** Fields of `after` that differ from those of `before`. */
export const differing = (before: object, after: object): Partial<Record<string, unknown>> => {
  const values = new Map(Object.entries(before))
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(values.get(name))),
  )
}
