import * as z from 'zod'
import { SearchTool } from '../inference/search-tool.ts'

/** What a metered call asks for. Who pays for it comes from its authentication. */
export const MeteredCall = z.strictObject({
  model: z.string().min(1).max(256).describe('One of the models of the price list'),
  prompt: z.string().min(1).describe('The prompt'),
  max_tokens: z
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe('The most tokens to generate; the configured limit when absent'),
  tools: z.array(SearchTool).max(16).default([]).describe('Searches that the model may make'),
})
export type MeteredCall = z.infer<typeof MeteredCall>
