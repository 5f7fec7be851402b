import { sql, type Transaction } from 'kysely'
import { GazewayError } from '../../errors.ts'
import type { Schema } from '../../store/schema.ts'
import { type Micros, toUsd } from '../../text/money.ts'
import { PERIODS, type Period, periodOf, TOTAL } from '../../text/period.ts'
import { addSpending, isIn, readSpending, type Spender, type Spent } from './spending.ts'

/** A budget and its remaining amount. */
export interface BudgetLeft {
  /** Id of the key or group. */
  owner: string
  per: Period
  micros: Micros
  /** Negative when the budget was lowered below the amount spent. */
  left: Micros
  /** The least that is not spent of any of the budgets: what would be left if no call held a reservation. */
  unspent: Micros
  resetsAt: string | null
}

/**
 * Finds the budget of a key and its group with the least left on `day`; null when they have none. Locks their spending
 * until the transaction ends.
 */
export async function tightestBudget(
  trx: Transaction<Schema>,
  { id, groupId }: Spender,
  day: string,
): Promise<BudgetLeft | null> {
  const owners = groupId === null ? [id] : [groupId, id]
  const ofOwners = trx.selectFrom('budgets').selectAll().where('owner', 'in', owners)
  if ((await ofOwners.execute()).length === 0) return null
  await lockSpending(trx, owners.toSorted())
  // Read again, because they may have been lowered while this waited for the lock.
  const budgets = await ofOwners.execute()
  if (budgets.length === 0) return null
  const waiting = await outstanding(trx, owners)
  const spent = await readSpending(trx, owners, day)
  const taken = (rows: readonly Taken[], owner: string, per: Period): Micros =>
    rows
      .filter((row) => row.owner === owner && (isIn(row.day, per, day) || isInTotal(row, per)))
      .reduce((sum, row) => sum + Number(row.micros), 0)
  const all = budgets.map(({ owner, per, micros }) => {
    const unspent = micros - taken(spent, owner, per)
    return {
      owner,
      per,
      micros,
      unspent,
      left: unspent - taken(waiting, owner, per),
      resetsAt: periodOf(per, day).resetsAt,
    }
  })
  const least = all.reduce((tightest, budget) => (budget.left < tightest.left ? budget : tightest))
  return { ...least, unspent: Math.min(...all.map(({ unspent }) => unspent)) }
}

interface Taken {
  owner: string
  day: string
  micros: Micros
  /** Reserved and not spent yet. The row of the total excludes it. */
  isOutstanding?: boolean
}

/** Tells whether a row counts in all-time budgets beside the row of the total. */
const isInTotal = ({ isOutstanding }: Taken, per: Period): boolean =>
  isOutstanding === true && PERIODS[per].bounds === null

/** Locks the spending rows of owners, as every transaction that spends does. */
async function lockSpending(trx: Transaction<Schema>, owners: readonly string[]): Promise<void> {
  await trx
    .insertInto('spending')
    .values(owners.map((owner) => ({ owner, day: TOTAL, charged_micros: 0, recorded_micros: 0 })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  await trx
    .selectFrom('spending')
    .select('owner')
    .where('owner', 'in', owners)
    .where('day', '=', TOTAL)
    .orderBy('owner')
    .forUpdate()
    .execute()
}

/** Reads the reservations of all processes for running and upcoming calls. */
async function outstanding(trx: Transaction<Schema>, owners: readonly string[]): Promise<Taken[]> {
  const { rows } = await sql<{ owner: string; day: string; micros: number }>`
    select key_id as owner, day, cast(sum(micros) as bigint) as micros from allowances
    where key_id in (${sql.join(owners)}) group by key_id, day
    union all
    select group_id as owner, day, cast(sum(micros) as bigint) as micros from allowances
    where group_id in (${sql.join(owners)}) group by group_id, day`.execute(trx)
  return rows.map((row) => ({ ...row, micros: Number(row.micros), isOutstanding: true }))
}

/**
 * Adds an amount to what a key and its group have spent on a day, within all their budgets.
 *
 * @throws GazewayError `budget_reached`; the transaction must then be rolled back
 */
export async function spendWithin(trx: Transaction<Schema>, spent: Spent): Promise<void> {
  const budget = await tightestBudget(trx, spent.spender, spent.day)
  if (budget && budget.left < spent.micros) throw budgetReached(budget, spent.micros)
  await addSpending(trx, 'charged', [spent])
}

/** Reverts {@link spendWithin} for an amount that was not used. */
export const giveBackSpent = (trx: Transaction<Schema>, { micros, ...spent }: Spent): Promise<void> =>
  addSpending(trx, 'charged', [{ ...spent, micros: -micros }])

/** Error for a call that needs more than a budget has left. */
export function budgetReached({ owner, per, micros, left, resetsAt }: BudgetLeft, needed: Micros): GazewayError {
  const whose = owner.startsWith('grp_') ? `group ${owner}` : 'this key'
  const when = resetsAt === null ? 'It does not reset' : `It resets at ${resetsAt}`
  return new GazewayError(
    'budget_reached',
    `This may cost ${toUsd(needed)} USD, and ${toUsd(Math.max(0, left))} USD is left of the budget ${PERIODS[per].each} of ${whose}, ` +
      `${toUsd(micros)} USD. ${when}. Request less, or have the budget raised.`,
  )
}
