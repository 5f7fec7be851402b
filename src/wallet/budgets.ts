import { sql, type Transaction } from 'kysely'
import { GazewayError } from '../errors.ts'
import type { Period } from '../identity/budgets.ts'
import type { Schema } from '../store/schema.ts'
import { type Micros, toUsd } from '../text/money.ts'
import { periodOf } from './period.ts'
import { addSpending, isIn, readSpending, type Spender, type Spent, TOTAL } from './spending.ts'

/** A budget, and what is left of it. */
export interface BudgetLeft {
  /** The key or the group that has it. */
  owner: string
  per: Period
  micros: Micros
  /** Below zero where it was lowered below what was spent. */
  left: Micros
  resetsAt: string | null
}

/**
 * The budget of a key and of its group of which the least is left on `day`; null where they have none. What they have spent
 * stays as it is until the transaction ends: other transactions that spend wait for it.
 */
export async function tightestBudget(
  trx: Transaction<Schema>,
  { id, groupId }: Spender,
  day: string,
): Promise<BudgetLeft | null> {
  const owners = groupId === null ? [id] : [groupId, id]
  const budgets = await trx.selectFrom('budgets').selectAll().where('owner', 'in', owners).execute()
  if (budgets.length === 0) return null
  await lockSpending(trx, owners.toSorted())
  const waiting = await outstanding(trx, owners)
  const spent = await readSpending(trx, owners, day)
  const taken = (owner: string, per: Period): Micros =>
    [...spent, ...waiting]
      .filter((row) => row.owner === owner && (per === 'total' ? isWhole(row) : isIn(row.day, per, day)))
      .reduce((sum, row) => sum + Number(row.micros), 0)
  const all = budgets.map(({ owner, per, micros }) => {
    const period = per as Period
    return { owner, per: period, micros, left: micros - taken(owner, period), resetsAt: periodOf(period, day).resetsAt }
  })
  return all.reduce((least, budget) => (budget.left < least.left ? budget : least))
}

interface Taken {
  owner: string
  day: string
  micros: Micros
  /** Whether it is set aside and not spent yet; it is in no total then. */
  isOutstanding?: boolean
}

const isWhole = ({ day, isOutstanding }: Taken): boolean => day === TOTAL || isOutstanding === true

/** Makes others that spend wait: whoever spends writes these rows. */
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

/** What processes have set aside for calls that are being made, or may be soon. */
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
 * Spends at once: adds an amount to what a key and its group have spent on a day, within all their budgets.
 *
 * @throws GazewayError `budget_reached`; the transaction must then be given up
 */
export async function spendWithin(trx: Transaction<Schema>, spent: Spent): Promise<void> {
  const budget = await tightestBudget(trx, spent.spender, spent.day)
  if (budget && budget.left < spent.micros) throw budgetReached(budget, spent.micros)
  await addSpending(trx, 'charged', [spent])
}

/** Takes back what was spent by {@link spendWithin} and not used. */
export const giveBackSpent = (trx: Transaction<Schema>, { micros, ...spent }: Spent): Promise<void> =>
  addSpending(trx, 'charged', [{ ...spent, micros: -micros }])

/** The refusal of a call that needs more than is left of a budget. */
export function budgetReached({ owner, per, micros, left, resetsAt }: BudgetLeft, needed: Micros): GazewayError {
  const whose = owner.startsWith('grp_') ? `group ${owner}` : 'this key'
  const when = resetsAt === null ? 'It does not reset' : `It resets at ${resetsAt}`
  const budget = per === 'total' ? 'budget in total' : `budget per ${per}`
  return new GazewayError(
    'budget_reached',
    `This may cost ${toUsd(needed)} USD, and ${toUsd(Math.max(0, left))} USD are left of the ${budget} of ${whose}, ` +
      `${toUsd(micros)} USD. ${when}; ask for less, or have the budget raised.`,
  )
}
