import type { BudgetRecord } from '../../src/identity/budgets.ts'
import type { GroupRecord } from '../../src/identity/groups.ts'
import type { KeyRecord } from '../../src/identity/keys.ts'
import type { Spend } from '../../src/identity/spend.ts'
import { PERIOD_NAMES, PERIODS } from '../../src/text/period.ts'
import { clipped, detailed } from './detailed-table.ts'

/** Formats keys as a table, with the names of their groups. */
export const keyTable = (records: readonly KeyRecord[], groups: readonly GroupRecord[]): string =>
  detailed(
    ['ID', 'NAME', 'SCOPES', 'CREATED', 'LAST USED'],
    records.map((key) => ({
      cells: [key.id, clipped(key.name), key.scopes.join(','), dayOf(key.created_at), dayOf(key.last_used_at)],
      details: {
        revoked: key.revoked_at,
        expires: key.expires_at,
        group: groups.find(({ id }) => id === key.group)?.name ?? key.group,
        wallet: key.wallet,
        billing: key.billing,
        limits: limitsOf(key),
        alerts: alertsOf(key.alerts),
        models: key.models?.join(', ') ?? null,
        lenient: key.lenient ? 'yes' : null,
        cache: key.cache === 'off' ? 'off' : null,
        'spent USD': spent(key.spend),
        'owed USD': owed(key.debt_usd),
        'presumed USD': presumed(key),
      },
    })),
  )

/** Formats groups as a table. */
export const groupTable = (records: readonly GroupRecord[]): string =>
  detailed(
    ['ID', 'NAME', 'KEYS', 'CREATED'],
    records.map((group) => ({
      cells: [group.id, clipped(group.name), String(group.keys), dayOf(group.created_at)],
      details: {
        budgets: budgetsOf(group.budgets).join(', '),
        limits: sessionLimitsOf(group.limits).join(', '),
        alerts: alertsOf(group.alerts),
        'spent USD': spent(group.spend),
        'owed USD': owed(group.debt_usd),
        'presumed USD': presumed(group),
      },
    })),
  )

/** The day of a time; `--json` has the whole of it. */
const dayOf = (at: string | null): string | null => at?.slice(0, 10) ?? null

/** `credit 10, 5 per day, 60 requests per minute` */
function limitsOf({ limits }: KeyRecord): string {
  const { credit_limit_usd, requests_per_minute, tokens_per_minute, concurrent } = limits
  return [
    ...(credit_limit_usd === null ? [] : [`credit ${credit_limit_usd}`]),
    ...budgetsOf(limits.budgets),
    ...(requests_per_minute === null ? [] : [`${requests_per_minute} requests per minute`]),
    ...(tokens_per_minute === null ? [] : [`${tokens_per_minute} tokens per minute`]),
    ...(concurrent === null ? [] : [`${concurrent} concurrent calls`]),
    ...sessionLimitsOf(limits),
  ].join(', ')
}

/** `2 per session, 500 calls per session` */
function sessionLimitsOf({ session_usd, session_calls, session_minutes, repeats }: GroupRecord['limits']): string[] {
  return [
    ...(session_usd === null ? [] : [`${session_usd} per session`]),
    ...(session_calls === null ? [] : [`${session_calls} calls per session`]),
    ...(session_minutes === null ? [] : [`${session_minutes} minutes per session`]),
    ...(repeats === null ? [] : [`the same ${repeats.times} times in ${repeats.minutes} minutes`]),
  ]
}

const budgetsOf = (budgets: readonly BudgetRecord[]): string[] =>
  budgets.map(({ usd, per }) => `${usd} ${PERIODS[per].each}`)

/** `80%, 100%` */
const alertsOf = (alerts: KeyRecord['alerts']): string => alerts.map(({ at }) => `${Math.round(at * 100)}%`).join(', ')

const owed = (debt: number): string | null => (debt === 0 ? null : String(debt))

/** Spending in the current periods; null when nothing was spent. */
const spent = (spend: Spend): string | null =>
  spend.total_usd === 0 ? null : PERIOD_NAMES.map((per) => `${spend[`${per}_usd`]} ${PERIODS[per].current}`).join(', ')

/** Amount that processes that died may have spent; null when nothing is presumed. */
const presumed = ({ presumed_usd }: Pick<KeyRecord, 'presumed_usd'>): string | null =>
  presumed_usd === 0 ? null : String(presumed_usd)
