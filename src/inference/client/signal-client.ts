import type { Client } from '../relay/send.ts'

/** A client represented by an abort signal: aborting it means that the client has disconnected. */
export interface SignalClient extends Client {
  reason(): unknown
  /** Disconnects the client for another reason. */
  leave(reason: unknown): void
  /** Stops listening to the signal. */
  release(): void
}

/**
 * Creates the client.
 *
 * @param signal aborted when the caller cancels, or with an error as its reason when the service ends the call
 */
export function signalClient(signal: AbortSignal | undefined): SignalClient {
  const listeners: Array<() => void> = []
  let left: { reason: unknown } | null = signal?.aborted ? { reason: signal.reason } : null
  const onAbort = () => leave(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })

  function leave(reason: unknown): void {
    if (left) return
    left = { reason }
    for (const listener of listeners) listener()
  }
  return {
    isGone: () => left !== null,
    onGone: (listener) => void listeners.push(listener),
    reason: () => left?.reason,
    leave,
    release: () => signal?.removeEventListener('abort', onAbort),
  }
}
