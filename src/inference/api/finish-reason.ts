import type { Message } from './requests.ts'

/** Finish reasons. Every list of them, and of Response statuses, is in this file; only traces have their own names. */

/** Finish reason of a successful choice whose provider omits it. */
export const FINISHED = 'stop'

/**
 * Finish reasons of a failed choice: OpenRouter (`error`), z.AI (`network_error`), DeepSeek
 * (`insufficient_system_resource`), and Gemini, when its model wrote a malformed call.
 */
export const FAILED_FINISHES = ['error', 'network_error', 'insufficient_system_resource', 'malformed_function_call']

/** Reason for an incomplete answer, as in the Responses API. */
export type IncompleteReason = 'max_output_tokens' | 'content_filter'

/** Finish reasons of a truncated answer: OpenAI's, and those that z.AI adds. */
const CUT = new Map<unknown, IncompleteReason>([
  ['length', 'max_output_tokens'],
  ['model_context_window_exceeded', 'max_output_tokens'],
  ['content_filter', 'content_filter'],
  ['sensitive', 'content_filter'],
])

/** Reason for an incomplete completion, as in the Responses API. Null when it is complete. */
export const incompleteReason = (finish: string | null | undefined): IncompleteReason | null => CUT.get(finish) ?? null

/** Events that end the stream of a Response. */
export const LAST_EVENTS: readonly unknown[] = ['response.completed', 'response.incomplete', 'response.failed']

/** Tells whether an event ends a stream with an answer, whole or truncated. */
export const isAnswerEnd = (event: unknown): boolean => LAST_EVENTS.includes(event) && event !== 'response.failed'

/** Statuses of a Response without an answer: still being generated, as with `background`, or cancelled. */
const UNFINISHED: ReadonlySet<unknown> = new Set(['queued', 'in_progress', 'cancelled'])

/** Tells whether a Response has no answer although nothing failed. */
export const isUnfinished = (status: unknown): boolean => UNFINISHED.has(status)

/** Stop reasons: chat completions → Messages. */
const STOP_REASONS = new Map<unknown, StopReason>([
  ['stop', 'end_turn'],
  ['tool_calls', 'tool_use'],
  ['function_call', 'tool_use'],
  ['length', 'max_tokens'],
  ['model_context_window_exceeded', 'model_context_window_exceeded'],
  ['content_filter', 'refusal'],
  ['sensitive', 'refusal'],
])

/** Stop reason of a Message. */
export type StopReason = NonNullable<Message['stop_reason']>

/**
 * Converts a finish reason of chat completions to that of Messages. Many upstreams send `stop` after a tool call.
 *
 * @example stopReason('stop', true) // 'tool_use'
 */
export function stopReason(finish: unknown, hasCalls: boolean): StopReason {
  const reason = STOP_REASONS.get(finish) ?? 'end_turn'
  return reason === 'end_turn' && hasCalls ? 'tool_use' : reason
}

/** Finish reasons: Messages → chat completions. */
const FINISH_REASONS = new Map<unknown, string>([
  ['tool_use', 'tool_calls'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'content_filter'],
])

/** Converts a stop reason of Messages to that of chat completions. */
export const finishReason = (stop: unknown): string => FINISH_REASONS.get(stop) ?? FINISHED

/** Event that ends the stream of a Message. */
export const MESSAGE_STOP = 'message_stop'
