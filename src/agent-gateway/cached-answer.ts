import { GazewayError } from '../errors.ts'

/** Answer of the agent gateway, or the reason of its absence. */
export interface Answer<T> {
  value: T
  /** Message for people who see the list without it; null when all is well. */
  error: string | null
}

/** An answer that is requested again once it is old. */
export interface CachedAnswer<T> {
  get(): Promise<Answer<T>>
  /** Makes the next call request it again. */
  forget(): void
}

/**
 * Caches the result of `ask`, or its failure, for `freshMs`. Concurrent callers share one request, so that they wait
 * once for an agent gateway that hangs.
 *
 * @param options.without value that accompanies a failure
 */
export function cachedAnswer<T>(options: {
  ask: () => Promise<T>
  without: T
  freshMs: number
  elapsedMs: () => number
}): CachedAnswer<T> {
  const { ask, without, freshMs, elapsedMs } = options
  let cached: { answer: Promise<Answer<T>>; until: number } | undefined

  async function answered(): Promise<Answer<T>> {
    try {
      return { value: await ask(), error: null }
    } catch (error) {
      if (error instanceof GazewayError) return { value: without, error: error.message }
      throw error
    }
  }

  return {
    get() {
      if (cached && elapsedMs() < cached.until) return cached.answer
      const asked = { answer: answered(), until: Number.POSITIVE_INFINITY }
      cached = asked
      // Fresh from the arrival of the answer, not from the request. An internal error is not cached.
      asked.answer.then(
        () => {
          asked.until = elapsedMs() + freshMs
        },
        () => {
          asked.until = 0
        },
      )
      return asked.answer
    },
    forget() {
      cached = undefined
    },
  }
}
