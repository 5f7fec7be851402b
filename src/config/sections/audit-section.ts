import * as z from 'zod'
import { section } from './section.ts'
import { retentionDays } from './setting-values.ts'

/** Content and retention of call records. */
export const auditSection = section(() => ({
  store_content: z.boolean().default(false).describe('Store prompts and answers in call records.'),
  retention_days: retentionDays.describe('Retention of call records in days; null: forever.'),
}))
