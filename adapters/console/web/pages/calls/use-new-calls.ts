import { useEffect, useRef, useState } from 'preact/hooks'
import type { CallRecord } from '../../../../../src/calls/call-record.ts'
import { ApiError, api, offline } from '../../api.ts'

/** Pause before a lost stream is opened again, in milliseconds. */
const REOPEN_MS = 3000
/** Pause after a refusal, such as for too many streams, in milliseconds. */
const REFUSED_MS = 30_000

/**
 * Listens to calls as they are recorded, while the tab is visible: a browser has few connections to one server.
 *
 * @param query filters of the calls, with a question mark; null listens to none
 * @param onCalls called with the number of new calls
 * @returns true while the stream is open
 */
export function useNewCalls(query: string | null, onCalls: (calls: number) => void): boolean {
  const [isOpen, setOpen] = useState(false)
  const latest = useRef(onCalls)
  latest.current = onCalls
  const isOffline = offline.value

  useEffect(() => {
    if (query === null || isOffline) return
    let ending = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined

    const listen = async () => {
      const { signal } = ending
      let pauseMs = REOPEN_MS
      try {
        await api.events(`/api/calls/live${query}`, {
          signal,
          onOpen: () => setOpen(true),
          onEvent: (data) => latest.current((JSON.parse(data) as { items: CallRecord[] }).items.length),
        })
      } catch (error) {
        if (signal.aborted) return
        // A refusal or a lost connection. Meanwhile the list is polled, which shows the error.
        if (error instanceof ApiError) pauseMs = REFUSED_MS
        else if (!(error instanceof TypeError)) throw error
      }
      if (signal.aborted) return
      setOpen(false)
      timer = setTimeout(listen, pauseMs)
    }
    const close = () => {
      ending.abort()
      clearTimeout(timer)
      setOpen(false)
    }
    const onVisible = () => {
      close()
      ending = new AbortController()
      if (!document.hidden) void listen()
    }
    document.addEventListener('visibilitychange', onVisible)
    onVisible()
    return () => {
      document.removeEventListener('visibilitychange', onVisible)
      close()
    }
  }, [query, isOffline])

  return isOpen
}
