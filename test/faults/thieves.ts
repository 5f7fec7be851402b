import type * as z from 'zod'
import type { NewKey } from '../../src/identity/keys.ts'
import type { Store } from '../../src/store/store.ts'
import type { Micros } from '../../src/text/money.ts'
import { addSpending, dayOf } from '../../src/wallet/budget/spending.ts'

/** Names of the thieves. */
export type ThiefName =
  | 'recorded'
  | 'grouped'
  | 'charged'
  | 'unanswered'
  | 'thinking'
  | 'searching'
  | 'overrun'
  | 'borne'
  | 'owing'

/** A key of the thief. */
export interface Thief {
  name: ThiefName
  group: 'kept' | 'overrun'
  /**
   * Conduct of its provider: keeps to the limit, ignores it, breaks off after it has billed, reads stored tokens that the
   * request does not tell, thinks up to the limit without showing it, or reads pages that it found.
   */
  kind: 'kept' | 'endless' | 'broken' | 'stored' | 'thinking' | 'searching'
  terms: Pick<z.input<typeof NewKey>, 'billing' | 'limits'>
  /** Debt of the day before, in micro-dollars, which takes as much of today's budget. */
  carriedMicros?: Micros
}

type Budgets = NonNullable<NonNullable<Thief['terms']['limits']>['budgets']>

/** The thieves. Those of the group `kept` use nothing beyond their reservations. */
export const THIEVES: readonly Thief[] = [
  { ...of('recorded', 'kept'), terms: { billing: 'recorded', limits: { budgets: [{ usd: 0.018, per: 'day' }] } } },
  { ...of('grouped', 'kept'), terms: { billing: 'recorded' } },
  { ...of('charged', 'kept'), terms: charged([{ usd: 0.014, per: 'month' }]) },
  { ...of('unanswered', 'kept'), kind: 'broken', terms: charged([{ usd: 0.009, per: 'week' }]) },
  {
    ...of('thinking', 'kept'),
    kind: 'thinking',
    terms: { billing: 'recorded', limits: { budgets: [{ usd: 0.012, per: 'day' }] } },
  },
  { ...of('searching', 'kept'), kind: 'searching', terms: charged([{ usd: 0.03, per: 'day' }]) },
  {
    ...of('overrun', 'overrun'),
    kind: 'endless',
    carriedMicros: 2_000,
    terms: { billing: 'recorded', limits: { budgets: [{ usd: 0.006, per: 'day' }] } },
  },
  { ...of('borne', 'overrun'), kind: 'endless', terms: charged([{ usd: 0.006, per: 'day' }]) },
  { ...of('owing', 'overrun'), kind: 'stored', terms: { billing: 'cost', limits: { credit_limit_usd: 0.01 } } },
]

function of(name: ThiefName, group: Thief['group']): Pick<Thief, 'name' | 'group' | 'kind'> {
  return { name, group, kind: 'kept' }
}

function charged(budgets: Budgets): Thief['terms'] {
  return { billing: 'cost', limits: { credit_limit_usd: 1, budgets } }
}

/** Budgets of the groups. */
export const GROUPS: Readonly<Record<Thief['group'], Budgets>> = {
  kept: [{ usd: 0.13, per: 'total' }],
  overrun: [{ usd: 0.025, per: 'month' }],
}

const DAY_MS = 86_400_000
const daysBefore = (day: string, days: number): string => dayOf(new Date(Date.parse(day) - days * DAY_MS).toISOString())

/** Spending of a thief on a day before. */
export interface Earlier {
  thief: ThiefName
  day: string
  micros: Micros
  /** Part that was not reserved. */
  beyondMicros: Micros
}

/** Spending of thieves before: in other days, weeks and months, and more than a day's budget held. */
export const earlierBy = (today: string): Earlier[] => [
  { thief: 'recorded', day: daysBefore(today, 1), micros: 5_000, beyondMicros: 0 },
  { thief: 'recorded', day: daysBefore(today, 40), micros: 7_000, beyondMicros: 0 },
  { thief: 'charged', day: daysBefore(today, 32), micros: 9_000, beyondMicros: 0 },
  { thief: 'unanswered', day: daysBefore(today, 7), micros: 8_000, beyondMicros: 0 },
  { thief: 'overrun', day: daysBefore(today, 1), micros: 8_000, beyondMicros: 3_000 },
]

/** Stores what thieves spent before. */
export async function storeEarlier(
  store: Store,
  earlier: readonly Earlier[],
  idsOf: (thief: ThiefName) => { id: string; groupId: string },
): Promise<void> {
  const spent = earlier.map(({ thief, ...of }) => ({ ...of, spender: idsOf(thief) }))
  await store.write((trx) => addSpending(trx, 'recorded', spent))
}
