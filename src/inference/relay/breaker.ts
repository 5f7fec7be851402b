import { ASKING_PATHS } from '../endpoints.ts'

/** This many failures in a row, and an endpoint counts as down. */
export const FAILURES = 10
/** So long it is then left alone before one request tries it, in milliseconds; twice as long after each try. */
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 15_000
/** What a proxy or an overloaded server answers in place of the one behind it. */
const DOWN = new Set([502, 503, 504])

/** Leaves an endpoint alone that keeps failing. */
export interface Breaker {
  /**
   * Lets a request through, or not. One that tries an endpoint which was left alone may have nothing to tell for
   * minutes, as models think before they answer: others try it too, one after each pause.
   *
   * @returns who must hear the status of its reply as soon as it is known; null while the endpoint is left alone
   */
  admit(): ((status: number) => void) | null
  /** A request that was let through has had no reply. */
  failed(): void
  /** Whether no request is let through just now. */
  isLeftAlone(): boolean
  /** How long it is until a request is let through to an endpoint that is left alone. */
  pauseSeconds(): number
}

/** The breaker of one endpoint. It costs a request that all is well with next to nothing. */
function createBreaker(): Breaker {
  let failures = 0
  let pauseMs = FIRST_PAUSE_MS
  let aloneUntil = 0

  function failed(): void {
    failures++
    if (failures === FAILURES) leaveAlone(FIRST_PAUSE_MS)
  }

  function leaveAlone(forMs: number): void {
    pauseMs = forMs
    aloneUntil = elapsedMs() + forMs
  }

  function answered(status: number): void {
    if (DOWN.has(status)) failed()
    // What had been asked before the endpoint was left alone may be answered after: it does not show that it is back.
    else if (failures < FAILURES) failures = 0
  }

  function answeredTry(status: number): void {
    if (DOWN.has(status)) failed()
    else failures = 0
  }

  return {
    admit() {
      if (failures < FAILURES) return answered
      if (elapsedMs() < aloneUntil) return null
      leaveAlone(Math.min(2 * pauseMs, LONGEST_PAUSE_MS))
      return answeredTry
    },
    failed,
    isLeftAlone: () => failures >= FAILURES && elapsedMs() < aloneUntil,
    pauseSeconds: () => Math.max(1, Math.ceil((aloneUntil - elapsedMs()) / 1000)),
  }
}

/** The breakers of one upstream, by the path of the endpoint: other paths are as many as clients make up. */
export const createBreakers = (): ReadonlyMap<string, Breaker> =>
  new Map(ASKING_PATHS.map((path) => [path, createBreaker()]))

/** The time on the clock that nobody sets, whole: sums of it are exact. */
const elapsedMs = () => Math.floor(performance.now())
