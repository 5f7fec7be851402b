import type { Settler } from './settler.ts'

/** The first pause after a payment was noted, in milliseconds; it doubles until the payment is durable. */
const FIRST_LOOK_MS = 1
/** A payment that is not durable by then was not made. */
const LAST_LOOK_MS = 512

/** Settlements that are paid in the background. */
export interface Settling {
  /** A payment was noted, in a transaction that has yet to become durable. */
  expect(): void
  /** Ends after the round under way. What was sent is looked after by the next process. */
  stop(): Promise<void>
}

/**
 * Pays settlements until it is stopped.
 *
 * @param settler made with the first round: what it is made of takes half a second to load
 * @param onError told when a round failed; the next one tries again
 */
export function startSettling(deps: {
  settler: () => Promise<Settler>
  pollMs: number
  onError: (error: unknown) => void
}): Settling {
  const { pollMs, onError } = deps
  let stopped = false
  let lookMs = Infinity
  let endPause = () => {}

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Waits for the next round, or for a payment. */
  async function wait(settler: Settler): Promise<void> {
    const until = performance.now() + pollMs
    while (!stopped) {
      const left = until - performance.now()
      if (left <= 0) return
      await pause(Math.min(left, lookMs))
      if (lookMs === Infinity) continue
      if (await settler.anyDue()) {
        lookMs = Infinity
        return
      }
      lookMs = lookMs < LAST_LOOK_MS ? 2 * lookMs : Infinity
    }
  }

  async function run(): Promise<void> {
    let settler: Settler | undefined
    while (!stopped) {
      try {
        settler ??= await deps.settler()
        await settler.round()
        await wait(settler)
      } catch (error) {
        onError(error)
        if (!stopped) await pause(pollMs)
      }
    }
  }

  const running = run()
  return {
    expect() {
      lookMs = FIRST_LOOK_MS
      endPause()
    },
    async stop() {
      stopped = true
      endPause()
      await running
    },
  }
}
