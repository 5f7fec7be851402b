/** How answers end. Every list of finish reasons, and of the states of a Response, is in this file. */

/** The finish reason of a choice that ended well, where its provider leaves it out. */
export const FINISHED = 'stop'

/**
 * The finish reasons of a choice that its provider failed to complete: OpenRouter (`error`), z.AI (`network_error`),
 * DeepSeek (`insufficient_system_resource`), and Gemini, whose model wrote a call that nobody can read.
 */
export const FAILED_FINISHES = ['error', 'network_error', 'insufficient_system_resource', 'malformed_function_call']

type IncompleteReason = 'max_output_tokens' | 'content_filter'

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
