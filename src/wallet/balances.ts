import { sql } from 'kysely'
import { z } from 'zod'
import type { Store } from '../store/store.ts'
import type { LimitsOf } from './limits.ts'
import { toUsd } from './money.ts'

/** What a caller has. */
export const Balances = z.object({
  available_usd: z.number().describe('What is left of the deposits; below zero where credit is used'),
  held_usd: z.number().describe('Set aside for calls that are being made'),
  escrow_usd: z.number().describe('Locked for tasks that are not done'),
  credit_limit_usd: z.number().describe('How far available_usd may fall below zero'),
  daily_limit_usd: z.number().nullable().describe('How much may be spent on one UTC day'),
})
export type Balances = z.infer<typeof Balances>

/** The balances and limits of a caller; all zero for one that the ledger does not know. */
export async function readBalances(store: Store, callerId: string, limitsOf: LimitsOf): Promise<Balances> {
  const rows = await store.db
    .selectFrom('ledger_accounts')
    .select(['kind', sql<number>`sum(balance_micros)`.as('micros')])
    .where('owner', '=', callerId)
    .groupBy('kind')
    .execute()
  const limits = await limitsOf(callerId)
  const balance = (kind: string) => toUsd(Number(rows.find((row) => row.kind === kind)?.micros ?? 0))
  return {
    available_usd: balance('caller'),
    held_usd: balance('held'),
    escrow_usd: balance('escrow'),
    credit_limit_usd: toUsd(limits.creditMicros),
    daily_limit_usd: limits.dailyMicros === null ? null : toUsd(limits.dailyMicros),
  }
}
