import type { Settler } from './settler.ts'

/** The pause between looks for a payment that was noted and is not durable yet, in milliseconds. */
const LOOK_MS = 2
/** A payment that is not durable by then was not made, in milliseconds. */
const PATIENCE_MS = 500
/** The longest pause after rounds that failed, in milliseconds; pauses double up to it. */
const LONGEST_PAUSE_MS = 30_000

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
  let expectedUntil = -Infinity
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
      const expects = performance.now() < expectedUntil
      await pause(expects ? Math.min(left, LOOK_MS) : left)
      if (performance.now() < expectedUntil && (await settler.anyDue())) return
    }
  }

  async function run(): Promise<void> {
    let settler: Settler | undefined
    let faults = 0
    while (!stopped) {
      try {
        settler ??= await deps.settler()
        await settler.round(() => stopped)
        faults = 0
        await wait(settler)
      } catch (error) {
        onError(error)
        if (!stopped) await pause(Math.min(pollMs * 2 ** faults++, Math.max(pollMs, LONGEST_PAUSE_MS)))
      }
    }
  }

  const running = run()
  return {
    expect() {
      expectedUntil = performance.now() + PATIENCE_MS
      endPause()
    },
    async stop() {
      stopped = true
      endPause()
      await running
    },
  }
}
