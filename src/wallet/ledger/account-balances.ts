import { type ExpressionBuilder, sql } from 'kysely'
import * as z from 'zod'
import { Period, readBudgets, toBudgets } from '../../identity/budgets.ts'
import { Debt, toDebt } from '../../identity/spend.ts'
import { safeSum } from '../../store/safe-sum.ts'
import type { Schema } from '../../store/schema.ts'
import type { Store } from '../../store/store.ts'
import { toUsd } from '../../text/money.ts'
import { periodOf } from '../../text/period.ts'
import { spentAndOwed } from '../budget/open-debts.ts'
import { dayOf } from '../budget/spending.ts'
import type { LimitsOf } from '../budget/spending-limits.ts'
import { type AccountRef, accountOf } from './accounts.ts'

/** A budget and the amount spent of it. */
const BudgetState = z.object({
  per: Period,
  usd: z.number().describe('How much may be spent in one period (UTC)'),
  spent_usd: z.number().describe('Spent in the current period; reservations of running calls count once the calls end'),
  resets_at: z.iso.datetime().nullable().describe('Start of the next period; null for a budget that never resets'),
})

/** Balances of one caller. */
export const Balances = z.object({
  available_usd: z.number().describe('Unspent deposits; negative while credit is used'),
  held_usd: z.number().describe('Reserved for running calls'),
  escrow_usd: z.number().describe('Locked in escrow for open tasks'),
  debt_usd: Debt,
  credit_limit_usd: z.number().describe('How far available_usd may fall below zero'),
  budgets: z.array(BudgetState).describe("The caller's own budgets; the budgets of its group apply too"),
})
export type Balances = z.infer<typeof Balances>

/**
 * Reads the balances and limits of a caller; all zero when the ledger has no account for it. One statement reads all of
 * them: with several, money that moves between two accounts could be counted twice or not at all.
 */
export async function readBalances(
  store: Store,
  callerId: string,
  { limitsOf, now }: { limitsOf: LimitsOf; now: Date },
): Promise<Balances> {
  const limits = await limitsOf(callerId)
  const [budgets, spends] = await Promise.all([
    readBudgets(store.db, [callerId]),
    spentAndOwed(store, () => limits.creditMicros)([callerId], now),
  ])
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
    debt_usd: toDebt(spends.get(callerId)),
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

/** Sums a payer's live escrows. Settled escrows keep their empty accounts, so the sum reads escrows, not accounts. */
function inEscrow(eb: ExpressionBuilder<Schema, never>, payer: string) {
  return (
    eb
      .selectFrom('escrows')
      .select(safeSum('amount_micros').as('micros'))
      .where('payer', '=', payer)
      // A literal condition: the partial index covers live escrows only.
      .where(sql<boolean>`status in ('locked', 'expired')`)
  )
}
