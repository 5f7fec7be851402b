import { section } from './section.ts'
import { retentionDays } from './setting-values.ts'

/** Retention of reviews. */
export const reviewSection = section(() => ({
  retention_days: retentionDays.describe(
    'Retention of reviews in days, counted from their beginning; null: forever. Receipts that were handed out stay valid.',
  ),
}))
