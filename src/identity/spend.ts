import { z } from 'zod'
import { type Micros, toUsd } from '../text/money.ts'
import type { Period } from './budgets.ts'

/** What the calls of a key or a group have cost in the present periods (UTC). */
export const Spend = z.object({
  day_usd: z.number(),
  week_usd: z.number().describe('Since Monday'),
  month_usd: z.number(),
  total_usd: z.number(),
})
export type Spend = z.infer<typeof Spend>

/** What was spent in the present periods. */
export type Spent = Readonly<Record<Period, Micros>>

/** Finds what keys and groups have spent, by their ids; one that is missing in the reply has spent nothing. */
export type SpendOf = (ids: readonly string[], now: Date) => Promise<ReadonlyMap<string, Spent>>

/** Where nothing is charged: all have spent nothing. */
export const nothingSpent: SpendOf = async () => new Map()

/** What was spent, as it is shown. */
export const toSpend = (spent: Spent | undefined): Spend => ({
  day_usd: toUsd(spent?.day ?? 0),
  week_usd: toUsd(spent?.week ?? 0),
  month_usd: toUsd(spent?.month ?? 0),
  total_usd: toUsd(spent?.total ?? 0),
})
