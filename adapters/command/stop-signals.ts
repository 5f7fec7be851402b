import { constants } from 'node:os'

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

/** Resolves at the first stop signal. A second signal ends the process at once. */
export function untilStopRequest(): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false
    function listen(signal: NodeJS.Signals) {
      resolve()
      // A closed terminal sends SIGHUP twice: from the kernel and from the shell.
      if (signal === 'SIGHUP') return
      if (isStopping) endBy(signal)
      isStopping = true
    }
    // Never removed: without a listener of ours, libraries that listen for signals would end the process themselves.
    for (const signal of STOP_SIGNALS) process.on(signal, listen)
  })
}

/** Ends this process as if it had no listener for a signal. */
function endBy(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
  // Reached in a container alone: the kernel keeps signals without a listener from the first process there.
  process.exit(128 + constants.signals[signal])
}
