import * as z from 'zod'
import { section } from './section.ts'
import { retentionDays } from './setting-values.ts'

/** Content and retention of call records. */
export const auditSection = section(() => ({
  store_content: z.boolean().default(false).describe('Store prompts and answers in call records.'),
  content_retention_days: retentionDays.describe(
    'Retention of the prompts and answers in call records in days; null: as long as the records.',
  ),
  retention_days: retentionDays.describe('Retention of call records in days; null: forever.'),
}))
