import type { Kysely, Transaction } from 'kysely'
import { z } from 'zod'
import type { Schema } from '../store/schema.ts'
import type { BudgetRow } from '../store/tables/keys-tables.ts'
import { AmountAboveZero, type Micros, toMicros, toUsd } from '../text/money.ts'

/** What a budget is counted over: a calendar period in UTC, or all time. */
export const Period = z.enum(['day', 'week', 'month', 'total'])
export type Period = z.infer<typeof Period>

/** How much calls may cost in one period. */
export interface Budget {
  per: Period
  micros: Micros
}

/** One budget as it is sent and shown. */
const BudgetRecord = z.strictObject({
  usd: AmountAboveZero.describe('What calls may cost in one period, in USD.'),
  per: Period.describe('The calendar period (UTC; weeks begin on Monday), or all time.'),
})
export type BudgetRecord = z.infer<typeof BudgetRecord>

/** The budgets of a key or a group: each period once at most. */
export const Budgets = z
  .array(BudgetRecord)
  .max(Period.options.length)
  .superRefine((budgets, context) => {
    const seen = new Set<Period>()
    for (const [i, { per }] of budgets.entries()) {
      if (seen.has(per)) context.addIssue({ code: 'custom', path: [i, 'per'], message: 'has a budget already' })
      seen.add(per)
    }
  })
  .meta({ accepted: 'a list of {usd, per}, each of day, week, month and total once at most' })

/** Budgets as calls are held to them, the shortest period first. */
export const toBudgets = (rows: readonly Pick<BudgetRow, 'per' | 'micros'>[]): Budget[] =>
  rows.map(({ per, micros }) => ({ per, micros })).toSorted((a, b) => rank(a.per) - rank(b.per))

/** Budgets as they are shown, the shortest period first. */
export const toBudgetRecords = (rows: readonly Pick<BudgetRow, 'per' | 'micros'>[]): BudgetRecord[] =>
  toBudgets(rows).map(({ per, micros }) => ({ usd: toUsd(micros), per }))

/** The rows of an owner's budgets. */
export const toBudgetRows = (owner: string, budgets: readonly BudgetRecord[]): BudgetRow[] =>
  budgets.map(({ usd, per }) => ({ owner, per, micros: toMicros(usd) as Micros }))

/** The budgets of keys and groups, by the id of their owner. */
export async function readBudgets(db: Kysely<Schema>, owners: readonly string[]): Promise<Map<string, BudgetRow[]>> {
  if (owners.length === 0) return new Map()
  const budgets = new Map<string, BudgetRow[]>()
  for (const row of await db.selectFrom('budgets').selectAll().where('owner', 'in', owners).execute())
    budgets.set(row.owner, [...(budgets.get(row.owner) ?? []), row])
  return budgets
}

/** Puts budgets in the place of those that an owner has. The row of the owner is locked before. */
export async function replaceBudgets(
  trx: Transaction<Schema>,
  owner: string,
  rows: readonly BudgetRow[],
): Promise<void> {
  await trx.deleteFrom('budgets').where('owner', '=', owner).execute()
  if (rows.length > 0)
    await trx
      .insertInto('budgets')
      .values([...rows])
      .execute()
}

const rank = (per: Period): number => Period.options.indexOf(per)
