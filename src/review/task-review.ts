import * as z from 'zod'
import { Level } from './statement.ts'

/** The review of its result that a task needs before its reward is released. */
export const ReviewDemand = z
  .strictObject({
    coverage: z.number().min(0).max(1).default(1).describe('Least share of the changed lines that was seen.'),
    level: Level.extract(['seen', 'plausible']).default('plausible').describe('Least level of evidence.'),
  })
  .describe('The reward takes a review of the change that the result names, instead of an attestation')
export type ReviewDemand = z.infer<typeof ReviewDemand>

/** Writes the terms of a release for the ledger, which keeps them beside the locked reward. */
export const termsOf = ({ coverage, level }: ReviewDemand): string => `review: coverage ${coverage}, level ${level}`

/** Reads the terms of a task's row. Null for one without a review. */
export const storedTerms = (review: string | null): string | null =>
  review === null ? null : termsOf(ReviewDemand.parse(JSON.parse(review)))
