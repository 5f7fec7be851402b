import type { BudgetRecord, Period } from '../../../../../src/identity/budgets.ts'
import { amountIn } from '../../typed.ts'

/** A budget as it is being typed. */
export interface BudgetDraft {
  usd: string
  per: Period
}

/** Budgets to be edited. */
export const budgetDrafts = (budgets: readonly BudgetRecord[]): BudgetDraft[] =>
  budgets.map(({ usd, per }) => ({ usd: String(usd), per }))

/** Parses budgets in their order; the API validates them. */
export const budgetsIn = (drafts: readonly BudgetDraft[]) => drafts.map(({ usd, per }) => ({ usd: amountIn(usd), per }))
