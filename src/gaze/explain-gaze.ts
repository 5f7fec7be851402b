import * as z from 'zod'
import { GazeAnalysis } from './analyse.ts'
import { GazeRange } from './gaze-history.ts'

/** Range to analyse, with an optional narrative by the chat model. */
export const ExplainGaze = z.strictObject({
  ...GazeRange.shape,
  question: z.string().min(1).max(2000).optional().describe('Question that the narrative answers'),
  narrate: z.boolean().default(true).describe('Have a model put the figures into words'),
})
export type ExplainGaze = z.infer<typeof ExplainGaze>

/** An analysis with its narrative. */
export const ExplainedGaze = GazeAnalysis.extend({
  narrative: z.string().nullable(),
  call_id: z.string().nullable(),
  narrative_error: z.string().nullable().describe('Reason why a requested narrative is missing'),
})
export type ExplainedGaze = z.infer<typeof ExplainedGaze>
