import { section } from './section.ts'
import { retentionDays } from './setting-values.ts'

/** Retention of tasks. */
export const tasksSection = section(() => ({
  retention_days: retentionDays.describe(
    'Retention of the titles, descriptions and results of tasks in days after they ended; null: forever. Their escrows stay.',
  ),
}))
