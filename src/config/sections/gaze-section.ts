import * as z from 'zod'
import { retentionDays } from './setting-values.ts'

/** Conditions of attestations, and retention of gaze records. */
export const Gaze = z.strictObject({
  min_score: z.number().min(0).max(1).default(0.6).describe('The lowest attestation score that passes.'),
  max_age_seconds: z.int().min(1).max(86_400).default(900).describe('How old an attestation may be when it is used.'),
  records_needed: z.int().min(1).max(10_000).default(20).describe('Gaze records that an attestation needs.'),
  retention_days: retentionDays.describe('Days that gaze records are kept; null keeps them.'),
})
