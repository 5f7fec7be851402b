import { ASKING_PATHS } from '../endpoints.ts'

/** Consecutive failures that open the circuit. */
export const FAILURES = 10
/** First pause of an open circuit, in milliseconds. It doubles after each failed probe. */
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 15_000
/** Statuses of a proxy or overloaded server that answers for one that is down. */
const DOWN = new Set([502, 503, 504])

/** Circuit breaker for one endpoint. */
export interface Breaker {
  /**
   * Admits a request, or not. A probe may take minutes to report, since models think before they answer, so one further
   * probe is admitted after each pause.
   *
   * @returns a callback for the status of the reply, to be called as soon as it is known; null while the circuit is
   *   open
   */
  admit(): ((status: number) => void) | null
  /** Reports that an admitted request got no reply. */
  failed(): void
  /** True while no request is admitted. */
  isOpen(): boolean
  /** Seconds until an open circuit admits a probe. */
  pauseSeconds(): number
}

/** Creates the breaker of one endpoint. A success costs a request next to nothing. */
function createBreaker(): Breaker {
  let failures = 0
  let pauseMs = FIRST_PAUSE_MS
  let openUntil = 0

  function failed(): void {
    failures++
    if (failures === FAILURES) openFor(FIRST_PAUSE_MS)
  }

  function openFor(forMs: number): void {
    pauseMs = forMs
    openUntil = elapsedMs() + forMs
  }

  function answered(status: number): void {
    if (DOWN.has(status)) failed()
    // A late reply to a request from before the circuit opened does not prove that the endpoint is back.
    else if (failures < FAILURES) failures = 0
  }

  function answeredTry(status: number): void {
    if (DOWN.has(status)) failed()
    else failures = 0
  }

  return {
    admit() {
      if (failures < FAILURES) return answered
      if (elapsedMs() < openUntil) return null
      openFor(Math.min(2 * pauseMs, LONGEST_PAUSE_MS))
      return answeredTry
    },
    failed,
    isOpen: () => failures >= FAILURES && elapsedMs() < openUntil,
    pauseSeconds: () => Math.max(1, Math.ceil((openUntil - elapsedMs()) / 1000)),
  }
}

/** Breakers of one upstream by endpoint path. Other paths have none: clients can invent any number. */
export const createBreakers = (): ReadonlyMap<string, Breaker> =>
  new Map(ASKING_PATHS.map((path) => [path, createBreaker()]))

/** Monotonic clock in whole milliseconds, so that sums are exact. */
const elapsedMs = () => Math.floor(performance.now())
