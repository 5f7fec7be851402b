import * as z from 'zod'
import { type Micros, toUsd } from '../text/money.ts'
import { forPeriods, PERIODS, type Period } from '../text/period.ts'

/** Spending of a key or group in the current periods (UTC). */
export const Spend = z.object(forPeriods((per) => [`${per}_usd`, amountOf(per)]))
export type Spend = z.infer<typeof Spend>

/** Spending in the current periods, debt, and what is presumed spent. */
export interface Spent extends Readonly<Record<Period, Micros>> {
  /** Largest debt of its budgets and its credit; none by default. */
  debt?: Micros
  /** Reserved by processes that died or sleep; none by default. */
  presumed?: Micros
}

/** Amount that dead processes may have spent, as shown. */
export const PresumedUsd = z
  .number()
  .describe('Reserved by processes that died or sleep. Budgets count it until it is proved or released')

/** Reads the spending of keys and groups by id; absent ones have none. */
export type SpendOf = (ids: readonly string[], now: Date) => Promise<ReadonlyMap<string, Spent>>

/** Spending where nothing is charged: none. */
export const nothingSpent: SpendOf = async () => new Map()

/** Debt of a key or group. */
export const Debt = z
  .number()
  .describe(
    'Usage beyond reservations that budgets or credit did not hold: the largest of its debts. That of a budget counts against its next period, in total until the budget is raised or an admin forgives it; that of credit ends with a deposit',
  )

/** Builds the shown debt. */
export const toDebt = (spent: Spent | undefined): number => toUsd(spent?.debt ?? 0)

/** Builds the shown spending. */
export const toSpend = (spent: Spent | undefined): Spend =>
  forPeriods((per) => [`${per}_usd`, toUsd(spent?.[per] ?? 0)])

/** Builds the shown amount that is presumed spent. */
export const toPresumed = (spent: Spent | undefined): number => toUsd(spent?.presumed ?? 0)

function amountOf(per: Period): z.ZodNumber {
  const { note } = PERIODS[per]
  return note === null ? z.number() : z.number().describe(note)
}
