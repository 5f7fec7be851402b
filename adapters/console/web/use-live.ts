import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, api, fromJson, offline } from './api.ts'

/** Age at which data counts as stale, or one and a half refresh intervals if that is longer. */
const STALE_MS = 15_000
const TOO_MANY_REQUESTS = 429
/** The pause after a refusal because of too many requests, in milliseconds. */
const SLOWED_MS = 20_000

/** Live data of a path. */
export interface Live<T> {
  /**
   * The last that came for the present path; stays while a newer one cannot be had. Null until the first: only while that
   * is asked for does what another query of the same resource had stand in for it.
   */
  data: T | null
  /** Error of the last attempt; null after a success. */
  error: ApiError | null
  /** True until the first reply for the present path. */
  loading: boolean
  /** Tells whether the data is stale. Read it where time advances. */
  isStale(now: number): boolean
  /** Asks again now. */
  reload(): void
}

/** Result of the last attempt and its path. */
interface Held<T> {
  path: string | null
  text: string
  data: T | null
  error: ApiError | null
}

const NOTHING = { path: null, text: '', data: null, error: null }

/**
 * A path of the API, polled while the tab is visible and Gazeway answers.
 *
 * @param path null asks nothing. Another query keeps the old data until the new is there, or fails; another resource does not.
 */
export function useLive<T>(
  path: string | null,
  { everyMs = 3000, timeoutMs }: { everyMs?: number; timeoutMs?: number } = {},
): Live<T> {
  const [held, setHeld] = useState<Held<T>>(NOTHING)
  const [round, setRound] = useState(0)
  const answeredAt = useRef<number | null>(null)
  const isOffline = offline.value

  useEffect(() => {
    if (path === null) return
    const ending = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined

    const ask = async () => {
      clearTimeout(timer)
      if (document.hidden) return
      let pauseMs = everyMs
      try {
        const text = await api.text(path, { signal: ending.signal, timeoutMs })
        answeredAt.current = Date.now()
        setHeld((was) => {
          if (was.path === path && was.text === text && was.error === null) return was
          return { path, text, data: fromJson<T>(text), error: null }
        })
      } catch (error) {
        if (ending.signal.aborted) return
        if (!(error instanceof ApiError)) throw error
        setHeld((was) => ({ ...(was.path === path ? was : NOTHING), path, error }))
        if (error.status === TOO_MANY_REQUESTS) pauseMs = Math.max(everyMs, SLOWED_MS)
      }
      if (!ending.signal.aborted) timer = setTimeout(ask, pauseMs)
    }
    const onVisible = () => {
      if (!document.hidden) void ask()
    }
    document.addEventListener('visibilitychange', onVisible)
    void ask()
    return () => {
      ending.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', onVisible)
    }
    // Being reachable again is a reason to ask at once.
  }, [path, everyMs, timeoutMs, round, isOffline])

  const reload = useCallback(() => setRound((n) => n + 1), [])
  const loading = held.path !== path
  const { data, error } = loading && resourceOf(held.path) !== resourceOf(path) ? NOTHING : held
  const isStale = (now: number) =>
    answeredAt.current !== null && now - answeredAt.current > Math.max(STALE_MS, 1.5 * everyMs)
  return { data, error, loading: loading && path !== null, isStale, reload }
}

const resourceOf = (path: string | null) => path?.split('?')[0]
