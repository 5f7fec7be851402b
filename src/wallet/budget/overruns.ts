import type { Micros } from '../../text/money.ts'

/** A call whose reported cost exceeded its reservation. */
export interface Overrun {
  callId: string
  callerId: string
  model: string
  /** Reserved upstream cost, without the margin. */
  reservedMicros: Micros
  /** Cost of the usage that the upstream reported. */
  costMicros: Micros
  /** Part that the operator bears; 0 for a caller that is not charged. */
  absorbedMicros: Micros
}

/** Listeners for overruns. */
export interface Overruns {
  report(overrun: Overrun): void
  /** @returns a function that removes the listener */
  listen(listener: (overrun: Overrun) => void): () => void
}

/** Creates the overruns of this process. */
export function createOverruns(): Overruns {
  const listeners = new Set<(overrun: Overrun) => void>()
  return {
    report(overrun) {
      for (const listener of listeners) listener(overrun)
    },
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
