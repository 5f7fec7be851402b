import type { Message } from './convert/requests.ts'

/** How answers end. Every list of finish reasons, and of the states of a Response, is in this file; only traces name them anew. */

/** The finish reason of a choice that ended well, where its provider leaves it out. */
export const FINISHED = 'stop'

/**
 * The finish reasons of a choice that its provider failed to complete: OpenRouter (`error`), z.AI (`network_error`),
 * DeepSeek (`insufficient_system_resource`), and Gemini, whose model wrote a call that nobody can read.
 */
export const FAILED_FINISHES = ['error', 'network_error', 'insufficient_system_resource', 'malformed_function_call']

/** Why an answer is not complete, in the Responses API's words. */
export type IncompleteReason = 'max_output_tokens' | 'content_filter'

/** The finish reasons of an answer that was cut off: OpenAI's, and those that z.AI has beside them. */
const CUT = new Map<unknown, IncompleteReason>([
  ['length', 'max_output_tokens'],
  ['model_context_window_exceeded', 'max_output_tokens'],
  ['content_filter', 'content_filter'],
  ['sensitive', 'content_filter'],
])

/** Why a completion is not complete, in the Responses API's words; null when it is. */
export const incompleteReason = (finish: string | null | undefined): IncompleteReason | null => CUT.get(finish) ?? null

/** The events that end the stream of a Response. */
export const LAST_EVENTS: readonly unknown[] = ['response.completed', 'response.incomplete', 'response.failed']

/** Whether an event ends a stream with an answer, whole or cut off. */
export const isAnswerEnd = (event: unknown): boolean => LAST_EVENTS.includes(event) && event !== 'response.failed'

/** The states of a Response that has no answer: it is generated later, as with `background`, or was given up. */
const UNFINISHED: ReadonlySet<unknown> = new Set(['queued', 'in_progress', 'cancelled'])

/** Whether a Response has no answer although nothing failed. */
export const isUnfinished = (status: unknown): boolean => UNFINISHED.has(status)

/** Why an answer ended: chat completions' word → that of Messages. */
const STOP_REASONS = new Map<unknown, StopReason>([
  ['stop', 'end_turn'],
  ['tool_calls', 'tool_use'],
  ['function_call', 'tool_use'],
  ['length', 'max_tokens'],
  ['model_context_window_exceeded', 'model_context_window_exceeded'],
  ['content_filter', 'refusal'],
  ['sensitive', 'refusal'],
])

/** Why a Messages answer ended. */
export type StopReason = NonNullable<Message['stop_reason']>

/** Chat completions' word for why an answer ended, in the words of Messages. Many upstreams say `stop` after a tool call. */
export function stopReason(finish: unknown, hasCalls: boolean): StopReason {
  const reason = STOP_REASONS.get(finish) ?? 'end_turn'
  return reason === 'end_turn' && hasCalls ? 'tool_use' : reason
}

/** The word of Messages for why an answer ended → chat completions'. */
const FINISH_REASONS = new Map<unknown, string>([
  ['tool_use', 'tool_calls'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'content_filter'],
])

/** The word of Messages for why an answer ended, in those of chat completions. */
export const finishReason = (stop: unknown): string => FINISH_REASONS.get(stop) ?? FINISHED

/** The event that ends the stream of a Message. */
export const MESSAGE_STOP = 'message_stop'
