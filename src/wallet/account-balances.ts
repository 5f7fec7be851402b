import { type ExpressionBuilder, sql } from 'kysely'
import { z } from 'zod'
import { safeSum } from '../store/safe-sum.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import { toUsd } from '../text/money.ts'
import { type AccountRef, accountOf } from './accounts.ts'
import type { LimitsOf } from './limits.ts'

/** What a caller has. */
export const Balances = z.object({
  available_usd: z.number().describe('What is left of the deposits; below zero where credit is used'),
  held_usd: z.number().describe('Set aside for calls that are being made'),
  escrow_usd: z.number().describe('Locked for tasks that are not done'),
  credit_limit_usd: z.number().describe('How far available_usd may fall below zero'),
  daily_limit_usd: z.number().nullable().describe('How much may be spent on one UTC day'),
})
export type Balances = z.infer<typeof Balances>

/**
 * The balances and limits of a caller; all zero for one that the ledger does not know. They are read in one statement:
 * money that moves between two would be seen twice, or not at all.
 */
export async function readBalances(store: Store, callerId: string, limitsOf: LimitsOf): Promise<Balances> {
  const limits = await limitsOf(callerId)
  const { available, held, escrow } = await store.db
    .selectNoFrom((eb) => [
      balanceOf(eb, accountOf('caller', callerId)).as('available'),
      balanceOf(eb, accountOf('held', callerId)).as('held'),
      inEscrow(eb, callerId).as('escrow'),
    ])
    .executeTakeFirstOrThrow()
  return {
    available_usd: toUsd(available ?? 0),
    held_usd: toUsd(held ?? 0),
    escrow_usd: toUsd(escrow ?? 0),
    credit_limit_usd: toUsd(limits.creditMicros),
    daily_limit_usd: limits.dailyMicros === null ? null : toUsd(limits.dailyMicros),
  }
}

function balanceOf(eb: ExpressionBuilder<Schema, never>, { id }: AccountRef) {
  return eb.selectFrom('ledger_accounts').select('balance_micros').where('id', '=', id)
}

/** What is locked in escrows of a payer, summed over those that are live: their accounts stay, long after they are empty. */
function inEscrow(eb: ExpressionBuilder<Schema, never>, payer: string) {
  return (
    eb
      .selectFrom('escrows')
      .select(safeSum('amount_micros').as('micros'))
      .where('payer', '=', payer)
      // Written out, for the index is of live escrows alone.
      .where(sql<boolean>`status in ('locked', 'expired')`)
  )
}
