import * as z from 'zod'
import { SearchTool } from '../inference/client/search-tool.ts'

/** Input of a metered call. The caller's authentication determines who pays. */
export const MeteredCall = z.strictObject({
  model: z.string().min(1).max(256).describe('One of the models of the price list'),
  prompt: z.string().min(1).describe('The prompt'),
  max_tokens: z
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe('Maximum number of tokens to generate; defaults to the configured limit'),
  tools: z.array(SearchTool).max(16).default([]).describe('Search that the model may use'),
})
export type MeteredCall = z.infer<typeof MeteredCall>
