import { z } from 'zod'

/** Tokens of one call. `estimated` is true where the upstream did not report them and Gazeway counted. */
export const Usage = z.object({
  prompt_tokens: z.number().int().min(0),
  completion_tokens: z.number().int().min(0),
  total_tokens: z.number().int().min(0),
  estimated: z.boolean().optional(),
})
export type Usage = z.infer<typeof Usage>

/** More than any call can have: a count beyond it is a fault of the upstream's, and no sum of such counts could be stored. */
const MOST_TOKENS = 1e9

const count = z.int().min(0).max(MOST_TOKENS)

/** The usage field of a chat completion or of a Response, whichever the upstream sent. */
const Reported = z.union([
  z.object({
    prompt_tokens: count,
    // Embeddings have none.
    completion_tokens: count.default(0),
    total_tokens: count.optional(),
    completion_tokens_details: z.object({ reasoning_tokens: count.nullish() }).nullish(),
  }),
  z.object({ input_tokens: count, output_tokens: count }),
])

/** Usage in one shape from either of OpenAI's two; null when the upstream reported none that can be. The total is the sum. */
export function readUsage(reported: unknown): Usage | null {
  const parsed = Reported.safeParse(reported)
  if (!parsed.success) return null
  const [prompt, completion] =
    'prompt_tokens' in parsed.data
      ? [parsed.data.prompt_tokens, completionTokens(parsed.data)]
      : [parsed.data.input_tokens, parsed.data.output_tokens]
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
}

/** xAI's chat usage keeps reasoning out of `completion_tokens`, and its total tells so. */
function completionTokens(usage: {
  prompt_tokens: number
  completion_tokens: number
  total_tokens?: number | undefined
  completion_tokens_details?: { reasoning_tokens?: number | null | undefined } | null | undefined
}): number {
  const reasoning = usage.completion_tokens_details?.reasoning_tokens ?? 0
  const apart = usage.total_tokens === usage.prompt_tokens + usage.completion_tokens + reasoning
  return usage.completion_tokens + (apart ? reasoning : 0)
}
