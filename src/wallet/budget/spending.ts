import { type Kysely, sql, type Transaction } from 'kysely'
import { runBuilt } from '../../store/prepared-sql.ts'
import type { Schema } from '../../store/schema.ts'
import type { SpendingRow } from '../../store/tables/wallet-tables.ts'
import type { Micros } from '../../text/money.ts'
import { forPeriods, PERIOD_NAMES, type Period, periodOf, TOTAL } from '../../text/period.ts'

/** UTC day of a time: `2026-11-21`. */
export const dayOf = (at: string): string => at.slice(0, 10)

/** A key or wallet that spends, and its group. */
export interface Spender {
  id: string
  groupId: string | null
  /** Name of the spending of its session, see `sessionOwner`; none where no budget holds for the session. */
  session?: string | null | undefined
}

/** Names whose spending a spender's counts for. */
export const ownersOf = ({ id, groupId, session = null }: Spender): string[] =>
  [id, groupId, session].filter((owner) => owner !== null)

/** Amount spent by a key and its group on one day; negative when returned. */
export interface Spent {
  spender: Spender
  day: string
  micros: Micros
  /** Part of the amount that was not reserved; none by default. */
  beyondMicros?: Micros
}

/** Spending of an owner in the current periods. */
export type Spend = Record<Period, Micros>

/** Kind of spending: `charged` moves money, `recorded` only counts cost. */
export type SpendingKind = 'charged' | 'recorded'

/**
 * Adds amounts to the day and the total of each key and group, and to the total of each session. Writes rows in the order of their keys, so that
 * transactions cannot deadlock.
 */
export async function addSpending(
  trx: Transaction<Schema>,
  kind: SpendingKind,
  spent: readonly Spent[],
): Promise<void> {
  const rows = rowsOf(kind, spent)
  for (let at = 0; at < rows.length; at += MAX_ROWS) {
    const part = rows.slice(at, at + MAX_ROWS)
    await runBuilt(
      trx,
      `add spending ${part.length}`,
      part.flatMap((row) => Object.values(row)),
      () => upsert(trx, part),
    )
  }
}

/** Rows per statement. */
const MAX_ROWS = 64

function upsert(trx: Transaction<Schema>, rows: readonly SpendingRow[]) {
  return trx
    .insertInto('spending')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['owner', 'day']).doUpdateSet({
        charged_micros: sql`spending.charged_micros + excluded.charged_micros`,
        recorded_micros: sql`spending.recorded_micros + excluded.recorded_micros`,
        beyond_micros: sql`spending.beyond_micros + excluded.beyond_micros`,
      }),
    )
    .compile()
}

function rowsOf(kind: SpendingKind, spent: readonly Spent[]): SpendingRow[] {
  const rows = new Map<string, SpendingRow>()
  function add(owner: string, day: string, { micros, beyondMicros = 0 }: Spent): void {
    const key = `${owner} ${day}`
    const row = rows.get(key) ?? nothingSpentBy(owner, day)
    row[`${kind}_micros`] += micros
    row.beyond_micros += beyondMicros
    rows.set(key, row)
  }
  for (const one of spent)
    for (const owner of ownersOf(one.spender)) {
      // The budget of a session has no other period.
      if (owner !== one.spender.session) add(owner, one.day, one)
      add(owner, TOTAL, one)
    }
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}

/** Row of an owner that has spent nothing on a day. */
export const nothingSpentBy = (owner: string, day: string): SpendingRow => ({
  owner,
  day,
  charged_micros: 0,
  recorded_micros: 0,
  beyond_micros: 0,
  forgiven_micros: 0,
})

/** First day of the present periods. */
export const presentSince = (day: string): string =>
  PERIOD_NAMES.map((per) => periodOf(per, day).from).sort()[0] as string

/** Reads the days of owners from a day on, and their totals. */
export function readSpending(db: Kysely<Schema>, owners: readonly string[], from: string) {
  return db
    .selectFrom('spending')
    .select(['owner', 'day', sql<number>`charged_micros + recorded_micros`.as('micros')])
    .select(['beyond_micros', 'forgiven_micros'])
    .where('owner', 'in', owners)
    .where('day', '>=', from)
    .execute()
}

/**
 * Sums each owner's spending in the current periods.
 *
 * @param owners ids of keys, wallets or groups
 * @param now selects the periods
 */
export async function spendOf(db: Kysely<Schema>, owners: readonly string[], now: Date): Promise<Map<string, Spend>> {
  const day = dayOf(now.toISOString())
  const spends = new Map<string, Spend>(owners.map((owner) => [owner, forPeriods((per) => [per, 0])]))
  if (owners.length === 0) return spends
  for (const row of await readSpending(db, owners, presentSince(day))) {
    const spend = spends.get(row.owner) as Spend
    for (const per of PERIOD_NAMES) if (isIn(row.day, per, day)) spend[per] += Number(row.micros)
  }
  return spends
}

/** Tells whether a stored row counts in the period that contains `day`. */
export function isIn(kept: string, per: Period, day: string): boolean {
  const { from, to } = periodOf(per, day)
  return kept >= from && kept <= to
}
