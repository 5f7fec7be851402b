import type { Settler } from './settler.ts'

/** Interval between polls for a queued payment that has not committed yet, in milliseconds. */
const LOOK_MS = 2
/** Time after which a queued payment counts as rolled back, in milliseconds. */
const PATIENCE_MS = 500
/** Longest pause after failed rounds in milliseconds; pauses double up to it. */
const LONGEST_PAUSE_MS = 30_000

/** Background payment of settlements. */
export interface Settling {
  /** Announces a queued payment whose transaction has not committed yet. */
  expect(): void
  /** Stops after the current round. The next process watches what was sent. */
  stop(): Promise<void>
}

/**
 * Pays settlements until stopped.
 *
 * @param settler creates the settler on the first round, as it loads slowly
 * @param onError called when a round failed; the next one retries
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

  /** Waits for the next round or a payment. */
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
