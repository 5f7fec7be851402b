import * as z from 'zod'
import { section } from './section.ts'
import { retentionDays } from './setting-values.ts'

/** Levels of evidence that an attestation can be asked for, lowest first. */
export const GazeLevel = z.enum(['seen', 'plausible'])
export type GazeLevel = z.infer<typeof GazeLevel>

/** Conditions of attestations, and retention of gaze records. */
export const gazeSection = section(() => ({
  min_score: z.number().min(0).max(1).default(0.6).describe('Minimum attestation score to pass.'),
  max_age_seconds: z.int().min(1).max(86_400).default(900).describe('Maximum age of an attestation when used.'),
  records_needed: z.int().min(1).max(10_000).default(20).describe('Minimum number of gaze records of an attestation.'),
  require: GazeLevel.default('plausible').describe(
    'Least level of evidence of an attestation that is used, where the task names none.',
  ),
  retention_days: retentionDays.describe('Retention of gaze records in days; null: forever.'),
}))
