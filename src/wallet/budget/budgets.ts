import { sql, type Transaction } from 'kysely'
import { GazewayError } from '../../errors.ts'
import type { Schema } from '../../store/schema.ts'
import type { BudgetRow } from '../../store/tables/keys-tables.ts'
import { type Micros, toUsd } from '../../text/money.ts'
import { PERIODS, type Period, periodOf, TOTAL } from '../../text/period.ts'
import { countedIn, type DaySpent, debtBefore, debtsSince } from './debts.ts'
import { isSession, sessionBudget, sessionIn } from './session-budget.ts'
import {
  addSpending,
  isIn,
  nothingSpentBy,
  ownersOf,
  presentSince,
  readSpending,
  type Spender,
  type Spent,
} from './spending.ts'

/** A budget and its remaining amount. */
export interface BudgetLeft {
  /** Id of the key or group. */
  owner: string
  per: Period
  micros: Micros
  /** Negative when more was spent than the budget. */
  left: Micros
  /** Part of the budget that the debt of earlier periods takes. */
  debt: Micros
  /** The least that is not spent of any of the budgets: what would be left if no call held a reservation. */
  unspent: Micros
  resetsAt: string | null
  smallest: Micros
}

/**
 * Finds the budget of a key, its group and its session with the least left on `day`; null when they have none. Locks
 * their spending until the transaction ends.
 *
 * @param now.owed usage beyond reservations by key and session that is not written yet; none by default
 */
export async function tightestBudget(
  trx: Transaction<Schema>,
  spender: Spender,
  { day, at, owed = () => 0 }: { day: string; at: string; owed?: (owner: string) => Micros },
): Promise<BudgetLeft | null> {
  const { id } = spender
  const owners = ownersOf(spender)
  const ofOwners = trx.selectFrom('budgets').selectAll().where('owner', 'in', owners)
  const isOfSession = (spender.session ?? null) !== null
  if (!isOfSession && (await ofOwners.execute()).length === 0) return null
  const hasBeyond = await lockSpending(trx, owners.toSorted())
  // Read again, because they may have been lowered while this waited for the lock.
  const budgets = [...(await ofOwners.execute()), ...(await sessionBudget(trx, spender, at))]
  if (budgets.length === 0) return null
  const waiting = await outstanding(trx, owners)
  const presumed = waiting.filter(({ presumed }) => Number(presumed) === 1)
  const spent = await readSpending(trx, owners, hasBeyond ? debtsSince(day) : presentSince(day))
  const reserved = (rows: readonly Outstanding[], owner: string, per: Period): Micros =>
    rows
      .filter((row) => row.owner === owner && (isIn(row.day, per, day) || PERIODS[per].bounds === null))
      .reduce((sum, row) => sum + Number(row.micros), 0)
  const all = budgets.map((budget) => {
    const { owner, per } = budget
    const debt = hasBeyond ? debtBefore(spent, budget, day) : 0
    const left = unspentOf(budget, spent, { keyId: id, day, debt }) - owed(isSession(owner) ? owner : id)
    return {
      ...budget,
      debt,
      // Nobody waits for what is presumed spent.
      unspent: left - reserved(presumed, owner, per),
      left: left - reserved(waiting, owner, per),
      resetsAt: periodOf(per, day).resetsAt,
    }
  })
  const least = all.reduce((tightest, budget) => (budget.left < tightest.left ? budget : tightest))
  const smallest = Math.min(...all.map(({ micros }) => micros))
  return { ...least, smallest, unspent: Math.min(...all.map(({ unspent }) => unspent)) }
}

/**
 * Amount of a budget that is not spent. What the keys of a group used beyond their reservations counts for each of them
 * alone until the period ends: it does not block the others.
 *
 * @param of.keyId key that is about to spend; null for none of the group's keys
 * @param of.debt debt of earlier periods
 */
export function unspentOf(
  budget: BudgetRow,
  spent: readonly DaySpent[],
  { keyId, day, debt }: { keyId: string | null; day: string; debt: Micros },
): Micros {
  const { owner, per, micros } = budget
  const counted = countedIn(spent, budget, day)
  const isOwn = owner === keyId || PERIODS[per].bounds === null
  const ofOthers = isOwn ? 0 : Math.max(0, counted.beyond - beyondOf(keyId, spent, { per, day }))
  return micros - debt - counted.micros + ofOthers
}

const beyondOf = (keyId: string | null, spent: readonly DaySpent[], { per, day }: { per: Period; day: string }) =>
  keyId === null ? 0 : countedIn(spent, { owner: keyId, per }, day).beyond

/**
 * Locks the spending rows of owners, as every transaction that spends does.
 *
 * @returns whether some of it was beyond reservations, and may be debt
 */
export async function lockSpending(trx: Transaction<Schema>, owners: readonly string[]): Promise<boolean> {
  await trx
    .insertInto('spending')
    .values(owners.map((owner) => nothingSpentBy(owner, TOTAL)))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const totals = await trx
    .selectFrom('spending')
    .select('beyond_micros')
    .where('owner', 'in', owners)
    .where('day', '=', TOTAL)
    .orderBy('owner')
    .forUpdate()
    .execute()
  return totals.some(({ beyond_micros }) => Number(beyond_micros) > 0)
}

/** An amount that an owner has reserved for a day and not spent yet. */
interface Outstanding {
  owner: string
  day: string
  micros: Micros
  /** 1 when it is reserved by a process that died or sleeps. */
  presumed: number
}

/** Reads the reservations of all processes for running and upcoming calls. */
async function outstanding(trx: Transaction<Schema>, owners: readonly string[]): Promise<readonly Outstanding[]> {
  const isPresumed = sql`case when presumed_at is null then 0 else 1 end`
  const { rows } = await sql<Outstanding>`
    select key_id as owner, day, ${isPresumed} as presumed, cast(sum(micros) as bigint) as micros from allowances
    where key_id in (${sql.join(owners)}) group by 1, 2, 3
    union all
    select group_id as owner, day, ${isPresumed} as presumed, cast(sum(micros) as bigint) as micros from allowances
    where group_id in (${sql.join(owners)}) group by 1, 2, 3
    union all
    select session as owner, day, ${isPresumed} as presumed, cast(sum(micros) as bigint) as micros from allowances
    where session in (${sql.join(owners)}) group by 1, 2, 3`.execute(trx)
  return rows
}

/**
 * Adds an amount to what a key and its group have spent on a day, within all their budgets.
 *
 * @throws GazewayError `budget_reached`; the transaction must then be rolled back
 */
export async function spendWithin(trx: Transaction<Schema>, spent: Spent & { at: string }): Promise<void> {
  const budget = await tightestBudget(trx, spent.spender, spent)
  if (budget && budget.left < spent.micros) throw budgetReached(budget, spent.micros)
  await addSpending(trx, 'charged', [spent])
}

/** Reverts {@link spendWithin} for an amount that was not used. */
export const giveBackSpent = (trx: Transaction<Schema>, { micros, ...spent }: Spent): Promise<void> =>
  addSpending(trx, 'charged', [{ ...spent, micros: -micros }])

/** Error for a call that needs more than a budget has left. */
export function budgetReached(budget: BudgetLeft, needed: Micros): GazewayError {
  const { owner, per, micros, left, debt, resetsAt } = budget
  if (isSession(owner)) return sessionBudgetReached(budget, needed)
  const whose = owner.startsWith('grp_') ? `group ${owner}` : 'this key'
  const when = resetsAt === null ? 'It does not reset' : `It resets at ${resetsAt}`
  const owed =
    debt === 0 ? '' : `, of which ${toUsd(debt)} USD are owed for usage beyond reservations in the period before`
  return new GazewayError(
    'budget_reached',
    `This may cost ${toUsd(needed)} USD, and ${toUsd(Math.max(0, left))} USD is left of the budget ${PERIODS[per].each} of ${whose}, ` +
      `${toUsd(micros)} USD${owed}. ${when}. Request less, or have the budget raised.`,
  )
}

/** Error for a call that needs more than is left of the budget of its session. */
function sessionBudgetReached({ owner, micros, left }: BudgetLeft, needed: Micros): GazewayError {
  const { sessionId } = sessionIn(owner)
  return new GazewayError(
    'session_budget_reached',
    `This may cost ${toUsd(needed)} USD, and ${toUsd(Math.max(0, left))} USD is left of the budget of this session, ` +
      `${toUsd(micros)} USD. Start a new session, or ask an admin to raise it: gazeway session resume ${sessionId} --raise USD`,
  )
}
