/** Consecutive failures that open a circuit. */
export const FAILURES = 10
/** Failures of one caller that count for the others: half, so that no caller opens a circuit to others alone. */
const COUNTED_OF_ONE = FAILURES / 2
/** First pause of an open circuit, in milliseconds. It doubles with each probe, unless nothing else is left to try. */
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 15_000

/**
 * Circuit breaker. Failures count by caller:
 *
 * - Ten in a row of one caller open the circuit to that caller.
 * - Ten of all callers open it to everyone, of which one caller contributes five at most.
 *
 * An answer to any caller ends the row, and closes the circuit.
 */
export interface Breaker {
  /**
   * Time until the circuit admits a request; 0 when it does.
   *
   * @param isLastResort true when nothing else is left to try: a probe is then due each second
   * @returns milliseconds
   */
  waitMs(caller: string | null, isLastResort: boolean): number
  /**
   * Notes that a request is sent. While the circuit is open it is a probe, and the next one is due after a longer pause.
   * A probe may take minutes to report, since models think before they answer, so the pause begins now.
   */
  sent(caller: string | null): void
  /** Counts a failure. @param newest number of the request that was sent last */
  failed(caller: string | null, newest: number): void
  /**
   * Ends the row of failures. A request from before the circuit opened does not prove that the endpoint is back.
   *
   * @param request its number: requests are numbered as they are sent
   * @returns true when no failure is left
   */
  succeeded(request: number): boolean
  /** Callers that the circuit is open to now. Null while it is closed. */
  openTo(): 'everyone' | 'one' | null
}

/** Creates a breaker whose circuit is closed. */
export function createBreaker(): Breaker {
  /** Failures since the last answer, by caller: ten callers at most. */
  const failures = new Map<string | null, number>()
  let pauseMs = FIRST_PAUSE_MS
  let triedAt = 0
  /** Number of the last request before the circuit opened. */
  let openedAfter = 0

  /** Failures that count for everyone. */
  function counted(): number {
    let sum = 0
    for (const own of failures.values()) sum += Math.min(own, COUNTED_OF_ONE)
    return sum
  }

  const isOpenTo = (caller: string | null): boolean =>
    failures.size > 0 && ((failures.get(caller) ?? 0) >= FAILURES || counted() >= FAILURES)

  function open(newest: number): void {
    openedAfter = newest
    pauseMs = FIRST_PAUSE_MS
    triedAt = elapsedMs()
  }

  return {
    waitMs(caller, isLastResort) {
      if (!isOpenTo(caller)) return 0
      return Math.max(0, triedAt + (isLastResort ? FIRST_PAUSE_MS : pauseMs) - elapsedMs())
    },
    sent(caller) {
      if (!isOpenTo(caller)) return
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
      triedAt = elapsedMs()
    },
    failed(caller, newest) {
      const wasOpen = isOpenTo(caller)
      if (failures.has(caller) || counted() < FAILURES) failures.set(caller, (failures.get(caller) ?? 0) + 1)
      if (!wasOpen && isOpenTo(caller)) open(newest)
    },
    succeeded(request) {
      // Clearing an empty map makes a new table, too.
      if (failures.size > 0 && request > openedAfter) failures.clear()
      return failures.size === 0
    },
    openTo() {
      if (counted() >= FAILURES) return 'everyone'
      return [...failures.values()].some((own) => own >= FAILURES) ? 'one' : null
    },
  }
}

/** Monotonic clock in whole milliseconds, so that sums are exact. */
const elapsedMs = () => Math.floor(performance.now())
