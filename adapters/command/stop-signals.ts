/**
 * Signals of an orderly stop: from a service manager, Ctrl+C, and a closed terminal. `nohup` has no effect, because
 * Node resets ignored signals at its start.
 */
export const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Resolves once this process is asked to stop. */
export const untilStopped = (): Promise<null> =>
  new Promise((resolve) => {
    for (const signal of STOP_SIGNALS) process.once(signal, () => resolve(null))
  })
