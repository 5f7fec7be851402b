import { GazewayError } from '../errors.ts'

/** What the agent gateway answered, or why it did not. */
export interface Answer<T> {
  value: T
  /** In words for whoever sees the list without it; null where all is well. */
  error: string | null
}

/** An answer that is asked for again once it is old. */
export interface Kept<T> {
  get(): Promise<Answer<T>>
  /** Asks again at the next call. */
  forget(): void
}

/**
 * Keeps what `ask` brings for `freshMs`, and a failure as long: however many callers look, an agent gateway that hangs
 * is waited for once.
 *
 * @param options.without what a failure is told with
 */
export function keep<T>(options: {
  ask: () => Promise<T>
  without: T
  freshMs: number
  elapsedMs: () => number
}): Kept<T> {
  const { ask, without, freshMs, elapsedMs } = options
  let kept: { answer: Promise<Answer<T>>; until: number } | undefined

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
      if (kept && elapsedMs() < kept.until) return kept.answer
      const asked = { answer: answered(), until: Number.POSITIVE_INFINITY }
      kept = asked
      // It is fresh from when it is there, not from when it was asked for; a fault of this program is not kept.
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
      kept = undefined
    },
  }
}
