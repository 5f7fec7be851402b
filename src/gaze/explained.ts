import * as z from 'zod'
import { GazeAnalysis } from './analyse.ts'
import { GazeRange } from './gaze-history.ts'

/** What to analyse, and whether and about what the chat model should put it into words. */
export const ExplainGaze = z.strictObject({
  ...GazeRange.shape,
  question: z.string().min(1).max(2000).optional().describe('What the narrative should answer'),
  narrate: z.boolean().default(true).describe('Have the chat model put the figures into words'),
})
export type ExplainGaze = z.infer<typeof ExplainGaze>

/** An analysis with its narrative. */
export const ExplainedGaze = GazeAnalysis.extend({
  narrative: z.string().nullable(),
  call_id: z.string().nullable(),
  narrative_error: z.string().nullable().describe('Why there is no narrative although one was asked for'),
})
export type ExplainedGaze = z.infer<typeof ExplainedGaze>
