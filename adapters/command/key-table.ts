import type { BudgetRecord } from '../../src/identity/budgets.ts'
import type { GroupRecord } from '../../src/identity/groups.ts'
import type { KeyRecord } from '../../src/identity/keys.ts'
import type { Spend } from '../../src/identity/spend.ts'
import { aligned } from './aligned.ts'

const KEY_HEAD = [
  'ID',
  'NAME',
  'SCOPES',
  'GROUP',
  'WALLET',
  'BILLING',
  'LIMITS',
  'ALERTS',
  'MODELS',
  'SPENT USD',
  'EXPIRES',
  'CREATED',
  'LAST USED',
  'REVOKED',
]

/** Formats keys as a table, with the names of their groups. */
export const keyTable = (records: readonly KeyRecord[], groups: readonly GroupRecord[]): string =>
  aligned(
    KEY_HEAD,
    records.map((key) => [
      key.id,
      key.name,
      key.scopes.join(','),
      groups.find(({ id }) => id === key.group)?.name ?? key.group,
      key.wallet,
      key.billing,
      limitsOf(key),
      alertsOf(key.alerts),
      key.models?.join(',') ?? null,
      spent(key.spend),
      key.expires_at,
      key.created_at,
      key.last_used_at,
      key.revoked_at,
    ]),
  )

/** Formats groups as a table. */
export const groupTable = (records: readonly GroupRecord[]): string =>
  aligned(
    ['ID', 'NAME', 'KEYS', 'BUDGETS', 'ALERTS', 'SPENT USD', 'CREATED'],
    records.map((group) => [
      group.id,
      group.name,
      String(group.keys),
      budgetsOf(group.budgets).join(', '),
      alertsOf(group.alerts),
      spent(group.spend),
      group.created_at,
    ]),
  )

/** `credit 10, 5 per day, 60 requests per minute` */
function limitsOf({ limits }: KeyRecord): string {
  const { credit_limit_usd, requests_per_minute, tokens_per_minute, concurrent } = limits
  return [
    ...(credit_limit_usd === null ? [] : [`credit ${credit_limit_usd}`]),
    ...budgetsOf(limits.budgets),
    ...(requests_per_minute === null ? [] : [`${requests_per_minute} requests per minute`]),
    ...(tokens_per_minute === null ? [] : [`${tokens_per_minute} tokens per minute`]),
    ...(concurrent === null ? [] : [`${concurrent} concurrent calls`]),
  ].join(', ')
}

const budgetsOf = (budgets: readonly BudgetRecord[]): string[] =>
  budgets.map(({ usd, per }) => (per === 'total' ? `${usd} in total` : `${usd} per ${per}`))

/** `80%, 100%` */
const alertsOf = (alerts: KeyRecord['alerts']): string => alerts.map(({ at }) => `${Math.round(at * 100)}%`).join(', ')

/** Spending of this day, week and month, and in total; null when nothing was spent. */
const spent = ({ day_usd, week_usd, month_usd, total_usd }: Spend): string | null =>
  total_usd === 0 ? null : `${day_usd} today, ${week_usd} this week, ${month_usd} this month, ${total_usd} in total`
