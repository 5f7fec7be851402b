import type { Micros } from '../text/money.ts'

/** A call whose reported cost was above its reservation: the difference is not charged. */
export interface Overrun {
  callId: string
  callerId: string
  model: string
  /** What the call may cost upstream by its reservation, without the margin. */
  reservedMicros: Micros
  /** What it cost by the usage that the upstream reported. */
  costMicros: Micros
}

/** Tells of overruns whoever listens. */
export interface Overruns {
  report(overrun: Overrun): void
  /** @returns a function that stops it */
  listen(listener: (overrun: Overrun) => void): () => void
}

/** The overruns of this process. */
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
