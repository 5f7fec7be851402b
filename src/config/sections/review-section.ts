import * as z from 'zod'
import { section } from './section.ts'
import { retentionDays } from './setting-values.ts'

/** Policy of reviews, and their retention. */
export const reviewSection = section(() => ({
  policy: z
    .string()
    .regex(/^\P{Cc}{1,4096}$/u)
    .default('review.json')
    .meta({
      description:
        'File of the review policy that judges where none is named. For `gazeway review` a path in the repository; for the ' +
        'platform a path in the data folder, or an absolute one.',
      accepted: 'the path of a JSON file',
    }),
  retention_days: retentionDays.describe(
    'Retention of reviews in days, counted from their beginning; null: forever. Receipts that were handed out stay valid.',
  ),
}))
