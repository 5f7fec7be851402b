import type { BudgetRecord, Period } from '../../../../../src/identity/budgets.ts'
import { amountIn } from '../../typed.ts'

/** Budget while it is edited. */
export interface BudgetDraft {
  usd: string
  per: Period
}

/** Converts budgets for editing. */
export const budgetDrafts = (budgets: readonly BudgetRecord[]): BudgetDraft[] =>
  budgets.map(({ usd, per }) => ({ usd: String(usd), per }))

/** Parses budgets in their order; the API validates them. */
export const budgetsIn = (drafts: readonly BudgetDraft[]) => drafts.map(({ usd, per }) => ({ usd: amountIn(usd), per }))
