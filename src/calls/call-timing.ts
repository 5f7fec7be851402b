import * as z from 'zod'

/** Times of a call beside `latency_ms` and `first_token_ms`, in milliseconds; all but the first from its beginning. */
export const CallTiming = z.object({
  queue_ms: z
    .int()
    .nullable()
    .describe('Wait for limits and budgets before the first attempt began; null: a later attempt'),
  first_byte_ms: z.int().nullable().describe('First byte of the reply of the upstream; null: no reply'),
  first_thought_ms: z.int().nullable().describe('First reasoning of a stream; null: none'),
  first_text_ms: z.int().nullable().describe('First text or tool call of a stream; null: none, or no stream'),
})
export type CallTiming = z.infer<typeof CallTiming>

/** Builds the columns of a call, which have the names of its times. */
export const timingColumns = (timing: CallTiming | undefined): CallTiming => ({
  queue_ms: timing?.queue_ms ?? null,
  first_byte_ms: timing?.first_byte_ms ?? null,
  first_thought_ms: timing?.first_thought_ms ?? null,
  first_text_ms: timing?.first_text_ms ?? null,
})

/** Times of a call. Undefined where none is known. */
export function knownTiming(timing: CallTiming): CallTiming | undefined {
  const { queue_ms, first_byte_ms, first_thought_ms, first_text_ms } = timing
  return (queue_ms ?? first_byte_ms ?? first_thought_ms ?? first_text_ms) === null ? undefined : timing
}
