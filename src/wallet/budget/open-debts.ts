import { type Kysely, sql } from 'kysely'
import { readBudgets } from '../../identity/budgets.ts'
import type { SpendOf } from '../../identity/spend.ts'
import type { Schema } from '../../store/schema.ts'
import type { Store } from '../../store/store.ts'
import type { Micros } from '../../text/money.ts'
import { TOTAL } from '../../text/period.ts'
import { accountOf } from '../ledger/accounts.ts'
import { debtBy, debtsSince } from './debts.ts'
import { readPresumed } from './presumed-spending.ts'
import { dayOf, readSpending, spendOf } from './spending.ts'

/** Reads what keys and groups have spent, their debts, and what is presumed spent. @param defaultCredit credit of keys that set none */
export const spentAndOwed =
  ({ db }: Store, defaultCredit: () => Micros): SpendOf =>
  async (ids, now) => {
    const [spends, budgetDebts, creditDebts, presumed] = await Promise.all([
      spendOf(db, ids, now),
      debtsOfBudgets(db, ids, dayOf(now.toISOString())),
      debtsOfCredit(db, ids, defaultCredit()),
      readPresumed(db, ids),
    ])
    const debtOf = (id: string) => Math.max(budgetDebts.get(id) ?? 0, creditDebts.get(id) ?? 0)
    return new Map(
      [...spends].map(([id, spend]) => [id, { ...spend, debt: debtOf(id), presumed: presumed.get(id) ?? 0 }]),
    )
  }

/** Reads the largest debt of the budgets of each owner. Owners without usage beyond reservations have none. */
async function debtsOfBudgets(
  db: Kysely<Schema>,
  owners: readonly string[],
  day: string,
): Promise<ReadonlyMap<string, Micros>> {
  if (owners.length === 0) return new Map()
  const beyond = await db
    .selectFrom('spending')
    .select('owner')
    .where('owner', 'in', owners)
    .where('day', '=', TOTAL)
    .where('beyond_micros', '>', 0)
    .execute()
  if (beyond.length === 0) return new Map()
  const owing = beyond.map(({ owner }) => owner)
  const [budgets, spent] = await Promise.all([readBudgets(db, owing), readSpending(db, owing, debtsSince(day))])
  return new Map(
    [...budgets].map(([owner, rows]) => {
      const own = spent.filter((row) => row.owner === owner)
      return [owner, Math.max(...rows.map((budget) => debtBy(own, budget, day)))]
    }),
  )
}

/** Reads how far accounts are below what their credit holds, with what is reserved for running calls. */
async function debtsOfCredit(
  db: Kysely<Schema>,
  owners: readonly string[],
  defaultCredit: Micros,
): Promise<ReadonlyMap<string, Micros>> {
  const accounts = owners.flatMap((owner) => [accountOf('caller', owner).id, accountOf('held', owner).id])
  if (accounts.length === 0) return new Map()
  const { rows } = await sql<{ owner: string; micros: number; credit: number | null }>`
    select a.owner, cast(sum(a.balance_micros) as bigint) as micros, max(k.credit_limit_micros) as credit
    from ledger_accounts as a left join keys as k on k.id = a.owner
    where a.id in (${sql.join(accounts)}) group by a.owner having sum(a.balance_micros) < 0`.execute(db)
  return new Map(
    rows.map(({ owner, micros, credit }) => [owner, Math.max(0, -Number(micros) - Number(credit ?? defaultCredit))]),
  )
}
