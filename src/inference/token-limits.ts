/** So many models are remembered; clients may make up any number of names. */
const REMEMBERED = 1000

/** A chat request as far as its limit is concerned. */
interface Limited {
  model: string
  max_tokens?: unknown
}

/**
 * By which name each model takes the limit of its answer. All know `max_tokens`, but those of OpenAI's that reason, which
 * refuse it and take `max_completion_tokens`; servers that do not know the latter would answer without any bound.
 */
export interface TokenLimits {
  /** The request, its `max_tokens` by the name that its model takes, as far as that has shown. */
  named<Request extends Limited>(request: Request): Request
  /** Notes that a model has refused the limit by its usual name. */
  renamed(model: string): void
}

/** The names of limits, as they show while the process runs. */
export function createTokenLimits(): TokenLimits {
  const renamed = new Set<string>()
  return {
    named(request) {
      const { max_tokens, ...rest } = request
      if (max_tokens === undefined || !renamed.has(request.model)) return request
      return { ...rest, max_completion_tokens: max_tokens } as typeof request & { max_completion_tokens: unknown }
    },
    renamed(model) {
      if (renamed.size < REMEMBERED) renamed.add(model)
    },
  }
}

/**
 * Whether a refusal says that the model knows the limit by its other name alone.
 *
 * @param field the field that it is about
 */
export const isRenamed = (field: string | null, message: string): boolean =>
  field === 'max_tokens' && message.includes('max_completion_tokens')
