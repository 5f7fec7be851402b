import * as z from 'zod'
import { retentionDays } from './setting-values.ts'

/** Content and retention of call records. */
export const Audit = z.strictObject({
  store_content: z.boolean().default(false).describe('Whether call records keep prompts and answers.'),
  retention_days: retentionDays.describe('Days that call records are kept; null keeps them.'),
})
