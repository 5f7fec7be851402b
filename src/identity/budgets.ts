import type { Kysely, Transaction } from 'kysely'
import * as z from 'zod'
import type { Schema } from '../store/schema.ts'
import type { BudgetRow } from '../store/tables/keys-tables.ts'
import { AmountAboveZero, type Micros, toMicros, toUsd } from '../text/money.ts'
import { PERIOD_NAMES } from '../text/period.ts'

/** Period of a budget: a calendar period in UTC, or all time. */
export const Period = z.enum(PERIOD_NAMES)
export type Period = z.infer<typeof Period>

/** Budget of one period. */
export interface Budget {
  per: Period
  micros: Micros
}

/** A budget in requests and replies. */
const BudgetRecord = z.strictObject({
  usd: AmountAboveZero.describe('Limit of one period in USD.'),
  per: Period.describe('Calendar period (UTC; weeks begin on Monday), or all time.'),
})
export type BudgetRecord = z.infer<typeof BudgetRecord>

/** Budgets of a key or group, each period at most once. */
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
  .meta({ accepted: `a list of {usd, per}, each period (${PERIOD_NAMES.join(', ')}) once at most` })

/** Builds budgets from rows, the shortest period first. */
export const toBudgets = (rows: readonly Pick<BudgetRow, 'per' | 'micros'>[]): Budget[] =>
  rows.map(({ per, micros }) => ({ per, micros })).toSorted((a, b) => rank(a.per) - rank(b.per))

/** Builds the shown budgets of rows, the shortest period first. */
export const toBudgetRecords = (rows: readonly Pick<BudgetRow, 'per' | 'micros'>[]): BudgetRecord[] =>
  toBudgets(rows).map(({ per, micros }) => ({ usd: toUsd(micros), per }))

/** Builds the rows of an owner's budgets. */
export const toBudgetRows = (owner: string, budgets: readonly BudgetRecord[]): BudgetRow[] =>
  budgets.map(({ usd, per }) => ({ owner, per, micros: toMicros(usd) as Micros }))

/** Reads the budgets of keys and groups, by owner id. */
export async function readBudgets(db: Kysely<Schema>, owners: readonly string[]): Promise<Map<string, BudgetRow[]>> {
  if (owners.length === 0) return new Map()
  const budgets = new Map<string, BudgetRow[]>()
  for (const row of await db.selectFrom('budgets').selectAll().where('owner', 'in', owners).execute())
    budgets.set(row.owner, [...(budgets.get(row.owner) ?? []), row])
  return budgets
}

/** Replaces the budgets of an owner, whose row is locked before. */
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
