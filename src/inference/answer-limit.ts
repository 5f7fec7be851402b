/** How the limit of an answer is named: by the Responses API, by chat completions, and by OpenAI's models that reason. */
export const RESPONSES_LIMIT = 'max_output_tokens'
export const CHAT_LIMIT = 'max_tokens'
const REASONING_LIMIT = 'max_completion_tokens'
/** All of them. */
export const ANSWER_LIMITS = [RESPONSES_LIMIT, CHAT_LIMIT, REASONING_LIMIT] as const

/**
 * The names by which an endpoint takes the limit of its answer: another one's is ignored there. None where that is not known.
 *
 * @param endpoint below `/v1`
 */
export function limitsAt(endpoint: string): readonly string[] {
  if (endpoint === '/responses') return [RESPONSES_LIMIT]
  if (endpoint === '/messages' || endpoint === '/completions') return [CHAT_LIMIT]
  return endpoint === '/chat/completions' ? [CHAT_LIMIT, REASONING_LIMIT] : []
}

/** At most this many models are remembered: clients may make up any number of names. */
const REMEMBERED = 1000

/**
 * By which name each model takes the limit of its answer. All know `max_tokens`, but OpenAI's models that reason refuse it
 * and take `max_completion_tokens`. Servers that do not know the latter would answer without any limit.
 */
export interface AnswerLimits {
  /** Whether a model is known to refuse the usual name. */
  isRenamed(model: string): boolean
  /** Notes that a model refused the usual name. */
  rename(model: string): void
}

/** The names of limits, as they show while the process runs. */
export function createAnswerLimits(): AnswerLimits {
  const renamed = new Set<string>()
  return {
    isRenamed: (model) => renamed.has(model),
    rename(model) {
      if (renamed.size < REMEMBERED) renamed.add(model)
    },
  }
}

/**
 * Whether a refusal says that the model takes the limit by its other name.
 *
 * @param field the field that it is about
 */
export const isLimitRefused = (field: string | null, said: string): boolean =>
  field === CHAT_LIMIT && said.includes(REASONING_LIMIT)

/** What to change in a chat request so that its limit has the other name; nothing where it has none. */
export function renamedLimit(request: object): Record<string, unknown> {
  const { [CHAT_LIMIT]: limit } = request as Record<string, unknown>
  return limit === undefined ? {} : { [CHAT_LIMIT]: undefined, [REASONING_LIMIT]: limit }
}
