import { GENERATE_CONTENT } from './gemini-endpoints.ts'

/** Field that limits an answer, in the Responses API. */
export const RESPONSES_LIMIT = 'max_output_tokens'
export const CHAT_LIMIT = 'max_tokens'
const REASONING_LIMIT = 'max_completion_tokens'
/** Names of the token limit in requests of all APIs. */
export const ANSWER_LIMITS = [RESPONSES_LIMIT, CHAT_LIMIT, REASONING_LIMIT] as const

/**
 * Field names by which an endpoint takes the token limit of an answer; other names are ignored there. Empty for an
 * unknown endpoint.
 *
 * @param endpoint path below `/v1`
 * @example limitsAt('/responses') // ['max_output_tokens']
 */
export function limitsAt(endpoint: string): readonly string[] {
  // A Gemini request gets the field beside its `generationConfig`.
  if (endpoint === '/responses' || endpoint === GENERATE_CONTENT) return [RESPONSES_LIMIT]
  if (endpoint === '/messages' || endpoint === '/completions') return [CHAT_LIMIT]
  return endpoint === '/chat/completions' ? [CHAT_LIMIT, REASONING_LIMIT] : []
}

/** Most tokens of a model at its upstream. Null where unknown. */
export interface ModelLimits {
  /** Of an answer. */
  maxOutput: number | null
  /** Of prompt and answer together. */
  context: number | null
}

export const UNKNOWN_LIMITS: ModelLimits = { maxOutput: null, context: null }

/** Token limits of an upstream's models, as far as its list or its preset states them. */
export interface AnswerLimits {
  /** Limits of a model, as far as known. */
  of(model: string): ModelLimits
  /** Records the limits that the upstream lists. */
  list(listed: ReadonlyMap<string, ModelLimits>): void
}

/**
 * Creates the limits of an upstream that has listed none yet.
 *
 * @param stated longest answers by model, where no list states them
 */
export function createAnswerLimits(stated: ReadonlyMap<string, number> = new Map()): AnswerLimits {
  let listed: ReadonlyMap<string, ModelLimits> = new Map()
  return {
    of(model) {
      const { maxOutput, context } = listed.get(model) ?? UNKNOWN_LIMITS
      return { maxOutput: maxOutput ?? stated.get(model) ?? null, context }
    },
    list(limits) {
      listed = limits
    },
  }
}

/**
 * Tells whether an error says that the model requires the other name of the limit.
 *
 * @param field field that the error is about
 */
export const isLimitRefused = (field: string | null, message: string): boolean =>
  (field === CHAT_LIMIT || (field === null && message.includes(CHAT_LIMIT))) &&
  message.includes(REASONING_LIMIT) &&
  !TOO_LARGE.test(message)

/** vLLM names both where the answer does not fit beside its prompt: another name would not help. */
const TOO_LARGE = /too large|maximum context length/i

/** Changes that rename the limit of a chat request. Empty when the request has no limit. */
export function renamedLimit(request: object): Record<string, unknown> {
  const { [CHAT_LIMIT]: limit } = request as Record<string, unknown>
  return limit === undefined ? {} : { [CHAT_LIMIT]: undefined, [REASONING_LIMIT]: limit }
}

/**
 * Changes that send the limit of a chat request under the name that every server honours; one that does not know the
 * newer name would answer without a limit. After a rejection, the request is retried with the other name.
 */
export function honouredLimit(request: object): Record<string, unknown> {
  const { [CHAT_LIMIT]: limit, [REASONING_LIMIT]: newer } = request as Record<string, unknown>
  return (limit ?? null) !== null || (newer ?? null) === null
    ? {}
    : { [CHAT_LIMIT]: newer, [REASONING_LIMIT]: undefined }
}
