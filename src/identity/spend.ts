import * as z from 'zod'
import { type Micros, toUsd } from '../text/money.ts'
import type { Period } from './budgets.ts'

/** Spending of a key or group in the current periods (UTC). */
export const Spend = z.object({
  day_usd: z.number(),
  week_usd: z.number().describe('Since Monday'),
  month_usd: z.number(),
  total_usd: z.number(),
})
export type Spend = z.infer<typeof Spend>

/** Spending in the current periods. */
export type Spent = Readonly<Record<Period, Micros>>

/** Reads the spending of keys and groups by id; absent ones have none. */
export type SpendOf = (ids: readonly string[], now: Date) => Promise<ReadonlyMap<string, Spent>>

/** Spending where nothing is charged: none. */
export const nothingSpent: SpendOf = async () => new Map()

/** Builds the shown spending. */
export const toSpend = (spent: Spent | undefined): Spend => ({
  day_usd: toUsd(spent?.day ?? 0),
  week_usd: toUsd(spent?.week ?? 0),
  month_usd: toUsd(spent?.month ?? 0),
  total_usd: toUsd(spent?.total ?? 0),
})
