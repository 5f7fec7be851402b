/** Ends a call that the caller cancelled, or that was silent for too long. */
export interface Watchdog {
  /** Aborted in both cases; pass it to the request. */
  signal: AbortSignal
  /** Restarts the time limit, because something arrived. */
  touch(): void
  /** Rejects as soon as the signal is aborted, even if `work` would wait longer. */
  guard<T>(work: Promise<T>): Promise<T>
  /** Describes the end. `reason`: the abort reason of the caller's signal; `begun`: `touch` was called. */
  ending(): { cancelled: boolean; reason: unknown; timedOut: boolean; begun: boolean }
  /** Releases the timer and the caller's signal. */
  stop(): void
}

/**
 * Creates the signal that ends a call when its caller disconnects or its upstream is silent.
 *
 * @param caller aborted when the client cancels, or when the stopping service ends the call
 * @param silenceMs longest time without `touch`, in milliseconds
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
