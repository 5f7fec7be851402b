import type { KeyRecord } from '../../../../../src/identity/key.ts'

/** The most that a key may spend in a day, in USD; null is no limit. */
export const dailyBudget = ({ budgets }: Pick<KeyRecord['limits'], 'budgets'>): number | null =>
  budgets.find(({ per }) => per === 'day')?.usd ?? null
