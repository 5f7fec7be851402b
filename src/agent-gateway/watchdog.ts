/** Ends a call that was given up, or in which nothing has happened for too long. */
export interface Watchdog {
  /** Aborted in either case; hand it to the request. */
  signal: AbortSignal
  /** Something arrived: the time limit starts anew. */
  touch(): void
  /** Rejects as soon as the signal is aborted, even where the work itself would go on waiting. */
  guard<T>(work: Promise<T>): Promise<T>
  /** `reason` is what the caller's signal was aborted with; `begun`: it was touched. */
  ending(): { cancelled: boolean; reason: unknown; timedOut: boolean; begun: boolean }
  /** Lets go of the timer and of the caller's signal. */
  stop(): void
}

/**
 * @param caller aborted when the client cancels, or the service ends the call as it stops
 * @param silenceMs how long nothing may arrive
 */
export function createWatchdog(caller: AbortSignal | undefined, silenceMs: number): Watchdog {
  const controller = new AbortController()
  let timedOut = false
  let begun = false
  const timer = setTimeout(() => {
    timedOut = true
    controller.abort()
  }, silenceMs)
  const cancel = () => controller.abort()
  if (caller?.aborted) cancel()
  caller?.addEventListener('abort', cancel, { once: true })
  const aborted = new Promise<never>((_, reject) => {
    const fail = () => reject(new Error('The call was stopped before it was complete.'))
    if (controller.signal.aborted) fail()
    else controller.signal.addEventListener('abort', fail, { once: true })
  })
  aborted.catch(() => {}) // Seen only by those who guard their work with it.

  return {
    signal: controller.signal,
    touch() {
      begun = true
      timer.refresh()
    },
    guard: (work) => Promise.race([work, aborted]),
    ending: () => ({ cancelled: caller?.aborted ?? false, reason: caller?.reason, timedOut, begun }),
    stop() {
      clearTimeout(timer)
      caller?.removeEventListener('abort', cancel)
    },
  }
}
