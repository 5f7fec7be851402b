import * as z from 'zod'
import { section } from './section.ts'

/** Settings of what is kept of answers, for the requests that continue them. */
export const responsesSection = section(() => ({
  keep_days: z
    .int()
    .min(0)
    .max(365)
    .default(7)
    .describe(
      "Days for which the provider's reasoning is kept, sealed, for clients of chat completions, Responses or Gemini's API that bring back only tool calls, and Responses over chat completions or Messages, for requests that continue them. 0 keeps nothing.",
    ),
}))
