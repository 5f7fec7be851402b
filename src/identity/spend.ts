import * as z from 'zod'
import { type Micros, toUsd } from '../text/money.ts'
import { forPeriods, PERIODS, type Period } from '../text/period.ts'

/** Spending of a key or group in the current periods (UTC). */
export const Spend = z.object(forPeriods((per) => [`${per}_usd`, amountOf(per)]))
export type Spend = z.infer<typeof Spend>

/** Spending in the current periods. */
export type Spent = Readonly<Record<Period, Micros>>

/** Reads the spending of keys and groups by id; absent ones have none. */
export type SpendOf = (ids: readonly string[], now: Date) => Promise<ReadonlyMap<string, Spent>>

/** Spending where nothing is charged: none. */
export const nothingSpent: SpendOf = async () => new Map()

/** Builds the shown spending. */
export const toSpend = (spent: Spent | undefined): Spend =>
  forPeriods((per) => [`${per}_usd`, toUsd(spent?.[per] ?? 0)])

function amountOf(per: Period): z.ZodNumber {
  const { note } = PERIODS[per]
  return note === null ? z.number() : z.number().describe(note)
}
