import * as z from 'zod'
import { retentionDays } from './setting-values.ts'

/** Content and retention of call records. */
export const Audit = z.strictObject({
  store_content: z.boolean().default(false).describe('Store prompts and answers in call records.'),
  retention_days: retentionDays.describe('Retention of call records in days; null: forever.'),
})
