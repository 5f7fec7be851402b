import type { Message } from './requests.ts'

/** Finish reasons. Every list of them, and of Response statuses, is in this file; only traces have their own names. */

/** Finish reason of a successful choice whose provider omits it. */
export const FINISHED = 'stop'

/**
 * Names of the finish reasons of a failed choice: OpenRouter (`error`), z.AI (`network_error`), DeepSeek
 * (`insufficient_system_resource`), Ollama whose model is being loaded (`load`), vLLM (`abort`), and Gemini, when its model
 * wrote a malformed call (https://ai.google.dev/api/generate-content#FinishReason).
 */
const FAILED = [
  ...['error', 'network_error', 'insufficient_system_resource', 'load', 'abort', 'malformed_function_call'],
  ...['unexpected_tool_call', 'too_many_tool_calls', 'missing_thought_signature', 'finish_reason_unspecified'],
]
/** The same in the spellings that are seen: Gemini writes them in capitals. */
export const FAILED_FINISHES: readonly string[] = FAILED.flatMap((name) => [name, name.toUpperCase()])

/** Tells whether a finish reason is that of a failed choice. */
export const isFailedFinish = (finish: unknown): boolean => FAILED_FINISHES.includes(finish as string)

/** Reason for an incomplete answer, as in the Responses API. */
export type IncompleteReason = 'max_output_tokens' | 'content_filter'

/** Finish reasons of OpenAI → the names that other providers have for them, in lower case. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  // Gemini; z.AI; Mistral.
  length: ['max_tokens', 'max_output_tokens', 'model_context_window_exceeded', 'model_length', 'max_length'],
  // Gemini; z.AI; Bedrock; Anthropic.
  content_filter: [
    ...['safety', 'recitation', 'blocklist', 'prohibited_content', 'spii', 'language', 'image_safety'],
    ...['sensitive', 'content_filtered', 'guardrail_intervened', 'refusal'],
  ],
  stop: ['end_turn', 'stop_sequence', 'eos', 'eos_token'],
  tool_calls: ['tool_use'],
}
const OPENAI_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(OTHER_NAMES).flatMap(([known, names]) => [known, ...names].map((name) => [name, known] as const)),
)

/**
 * OpenAI's name of a finish reason. Unchanged when it is not known.
 *
 * @example knownFinish('MAX_TOKENS') // 'length'
 */
export const knownFinish = (finish: string): string => OPENAI_NAMES.get(finish.toLowerCase()) ?? finish

/** A finish reason in a chunk. Text of a model has its quotes escaped. */
const FINISH_FIELD = /("finish_reason"\s*:\s*")([^"\\]+)"/g

/** Gives the finish reasons in the JSON of a chat completion OpenAI's names. */
export const withKnownFinishes = (json: string): string =>
  json.replace(FINISH_FIELD, (_, field, finish) => `${field}${knownFinish(finish)}"`)

/** Finish reasons of a truncated answer. */
const CUT = new Map<string, IncompleteReason>([
  ['length', 'max_output_tokens'],
  ['content_filter', 'content_filter'],
])

/** Reason for an incomplete completion, as in the Responses API. Null when it is complete. */
export const incompleteReason = (finish: string | null | undefined): IncompleteReason | null =>
  CUT.get(knownFinish(finish ?? '')) ?? null

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
])

/** Stop reason of a Message. */
export type StopReason = NonNullable<Message['stop_reason']>

/**
 * Converts a finish reason of chat completions to that of Messages. Many upstreams send `stop` after a tool call.
 *
 * @example stopReason('stop', true) // 'tool_use'
 */
export function stopReason(finish: unknown, hasCalls: boolean): StopReason {
  const reason = STOP_REASONS.get(finish) ?? STOP_REASONS.get(knownFinish(String(finish))) ?? 'end_turn'
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
