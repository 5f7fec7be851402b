import { z } from 'zod'

/** Tokens of one call. `estimated` is true where the upstream did not report them and Gazeway counted. */
export const Usage = z.object({
  prompt_tokens: z.number().int().min(0),
  completion_tokens: z.number().int().min(0),
  total_tokens: z.number().int().min(0),
  estimated: z.boolean().optional(),
})
export type Usage = z.infer<typeof Usage>

/** The usage field of a chat completion or of a Response, whichever the upstream sent. */
const Reported = z.union([
  z.object({ prompt_tokens: z.number().int().min(0), completion_tokens: z.number().int().min(0) }),
  z.object({ input_tokens: z.number().int().min(0), output_tokens: z.number().int().min(0) }),
])

/** Usage in one shape from either of OpenAI's two; null when the upstream reported none. The total is the sum. */
export function readUsage(reported: unknown): Usage | null {
  const parsed = Reported.safeParse(reported)
  if (!parsed.success) return null
  const [prompt, completion] =
    'prompt_tokens' in parsed.data
      ? [parsed.data.prompt_tokens, parsed.data.completion_tokens]
      : [parsed.data.input_tokens, parsed.data.output_tokens]
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
}
