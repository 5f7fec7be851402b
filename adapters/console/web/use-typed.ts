import { useEffect, useState } from 'preact/hooks'
import { ApiError } from './api.ts'

/** Pause after the last letter before the API is asked, in milliseconds. */
const PAUSE_MS = 250

/**
 * Answer to what is typed, once typing pauses. The answer before stays until then.
 *
 * @param asked all that `ask` depends on; null asks nothing
 */
export function useTyped<T>(asked: string | null, ask: (signal: AbortSignal) => Promise<T>, pauseMs = PAUSE_MS) {
  const [found, setFound] = useState<T | null>(null)
  const [error, setError] = useState<ApiError | null>(null)
  useEffect(() => {
    const ending = new AbortController()
    const end = (answer: T | null, fault: ApiError | null) => {
      if (ending.signal.aborted) return
      if (fault === null) setFound(answer)
      setError(fault)
    }
    const search = () =>
      ask(ending.signal).then(
        (answer) => end(answer, null),
        (fault) => {
          if (!ending.signal.aborted && !(fault instanceof ApiError)) throw fault
          end(null, fault)
        },
      )
    if (asked === null) end(null, null)
    const timer = asked === null ? undefined : setTimeout(search, pauseMs)
    return () => {
      clearTimeout(timer)
      ending.abort()
    }
  }, [asked])
  return { found, error }
}
