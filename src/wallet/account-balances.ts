import { type ExpressionBuilder, sql } from 'kysely'
import { z } from 'zod'
import { Period, readBudgets, toBudgets } from '../identity/budgets.ts'
import { safeSum } from '../store/safe-sum.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import { toUsd } from '../text/money.ts'
import { type AccountRef, accountOf } from './accounts.ts'
import type { LimitsOf } from './limits.ts'
import { periodOf } from './period.ts'
import { dayOf, spendOf } from './spending.ts'

/** A budget, and what is spent of it. */
const BudgetState = z.object({
  per: Period,
  usd: z.number().describe('How much may be spent in one period (UTC)'),
  spent_usd: z
    .number()
    .describe('Spent in the present one; what is set aside for calls that are being made is in it once they end'),
  resets_at: z.iso.datetime().nullable().describe('When the next period begins; null for one that is for all time'),
})

/** What a caller has. */
export const Balances = z.object({
  available_usd: z.number().describe('What is left of the deposits; below zero where credit is used'),
  held_usd: z.number().describe('Set aside for calls that are being made'),
  escrow_usd: z.number().describe('Locked for tasks that are not done'),
  credit_limit_usd: z.number().describe('How far available_usd may fall below zero'),
  budgets: z.array(BudgetState).describe('Its own; those of its group count beside them'),
})
export type Balances = z.infer<typeof Balances>

/**
 * The balances and limits of a caller; all zero for one that the ledger does not know. They are read in one statement:
 * money that moves between two would be seen twice, or not at all.
 */
export async function readBalances(
  store: Store,
  callerId: string,
  { limitsOf, now }: { limitsOf: LimitsOf; now: Date },
): Promise<Balances> {
  const limits = await limitsOf(callerId)
  const [budgets, spends] = await Promise.all([readBudgets(store.db, [callerId]), spendOf(store.db, [callerId], now)])
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
    budgets: toBudgets(budgets.get(callerId) ?? []).map(({ per, micros }) => ({
      per,
      usd: toUsd(micros),
      spent_usd: toUsd(spends.get(callerId)?.[per] ?? 0),
      resets_at: periodOf(per, dayOf(now.toISOString())).resetsAt,
    })),
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
