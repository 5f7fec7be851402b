import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ApiError, api, fromJson, offline } from './api.ts'

/** Age at which data counts as stale, or one and a half refresh intervals if that is longer. */
const STALE_MS = 15_000
const TOO_MANY_REQUESTS = 429
/** Pause after a reply 429, in milliseconds. */
const SLOWED_MS = 20_000

/** Live data of a path. */
export interface Live<T> {
  /**
   * Data of the latest reply for the current path; stays while newer data cannot be loaded. Null before the first
   * reply. While the first reply is pending, data of another query of the same resource is shown.
   */
  data: T | null
  /** Error of the last attempt; null after a success. */
  error: ApiError | null
  /** True until the first reply for the present path. */
  loading: boolean
  /** Tells whether the data is stale. Call it in components that are rendered as time advances. */
  isStale(now: number): boolean
  /** Sends a request now, without waiting for the next poll. */
  reload(): void
}

/** Times of a poll, in milliseconds. */
export interface Polling {
  everyMs?: number | undefined
  timeoutMs?: number | undefined
  isPaused?: boolean | undefined
}

/** Result of the last attempt and its path. */
interface Loaded<T> {
  path: string | null
  text: string
  data: T | null
  error: ApiError | null
}

const NOTHING = { path: null, text: '', data: null, error: null }

/**
 * Polls a path of the API while the tab is visible and Gazeway is reachable.
 *
 * @param options.isPaused keeps the data of the present path as it is; a path without data is loaded once
 * @param path null sends no request. Another query keeps the old data until its reply or error; another resource does
 *   not.
 */
export function useLive<T>(
  path: string | null,
  { everyMs = 3000, timeoutMs, isPaused = false }: Polling = {},
): Live<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>(NOTHING)
  const [round, setRound] = useState(0)
  const answeredAt = useRef<number | null>(null)
  const answeredPath = useRef<string | null>(null)
  const isOffline = offline.value

  // Before the page is painted: its requests leave a frame earlier.
  useLayoutEffect(() => {
    if (path === null) return
    const ending = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined

    const load = async () => {
      clearTimeout(timer)
      if (document.hidden || (isPaused && answeredPath.current === path)) return
      let pauseMs = everyMs
      try {
        const text = await api.text(path, { signal: ending.signal, timeoutMs })
        answeredAt.current = Date.now()
        answeredPath.current = path
        setLoaded((was) => {
          if (was.path === path && was.text === text && was.error === null) return was
          return { path, text, data: fromJson<T>(text), error: null }
        })
      } catch (error) {
        if (ending.signal.aborted) return
        if (!(error instanceof ApiError)) throw error
        setLoaded((was) => ({ ...(was.path === path ? was : NOTHING), path, error }))
        if (error.status === TOO_MANY_REQUESTS) pauseMs = Math.max(everyMs, SLOWED_MS)
      }
      if (!ending.signal.aborted) timer = setTimeout(load, pauseMs)
    }
    const onVisible = () => {
      if (!document.hidden) void load()
    }
    document.addEventListener('visibilitychange', onVisible)
    void load()
    return () => {
      ending.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', onVisible)
    }
    // When Gazeway is reachable again, the request is sent at once.
  }, [path, everyMs, timeoutMs, isPaused, round, isOffline])

  const reload = useCallback(() => setRound((n) => n + 1), [])
  const loading = loaded.path !== path
  const { data, error } = loading && resourceOf(loaded.path) !== resourceOf(path) ? NOTHING : loaded
  const isStale = (now: number) =>
    answeredAt.current !== null && now - answeredAt.current > Math.max(STALE_MS, 1.5 * everyMs)
  return { data, error, loading: loading && path !== null, isStale, reload }
}

const resourceOf = (path: string | null) => path?.split('?')[0]
