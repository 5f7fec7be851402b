/** Credentials, or a token, with their end. */
export interface Credentials {
  /** Place where they were found, for operators. Never a part of a secret. */
  from: string
  /** Milliseconds since 1970. Null when they do not end, or nobody knows when. */
  until: number | null
  /** True for those that somebody may have renewed since, although nobody knows when they end. */
  isReread?: true
}

/** Credentials that are kept until shortly before their end. */
export interface HeldCredentials<Found extends Credentials> {
  /** The present ones. Calls that come while they are fetched share one fetch. */
  get(): Promise<Found>
  /**
   * Forgets refused ones, unless others have replaced them since.
   *
   * @param isNew true for those that were fetched in place of refused ones: more would be refused too
   * @returns true when others may help
   */
  forget(refused: Credentials, isNew: boolean): boolean
}

/** Time before their end at which credentials are fetched again, in milliseconds. */
const EARLY_MS = 5 * 60_000
/** Time without a fetch after one that failed or did not help, while there are credentials, in milliseconds. */
const QUIET_MS = 30_000

/** Keeps credentials for all calls that wait for them. A fetch that fails before their end leaves them in use. */
export function holdCredentials<Found extends Credentials>(
  fetch: () => Promise<Found>,
  now: () => number = Date.now,
): HeldCredentials<Found> {
  let held: Found | null = null
  let fetching: Promise<Found> | null = null
  /** End of the quiet after a fetch that failed, and after one that did not help. */
  let failedUntil = Number.NEGATIVE_INFINITY
  let refusedUntil = Number.NEGATIVE_INFINITY

  const isFresh = ({ until }: Found, early: number) => until === null || now() < until - early

  async function renewed(): Promise<Found> {
    try {
      held = await fetch()
    } catch (error) {
      if (held === null || !isFresh(held, 0)) throw error
      failedUntil = now() + QUIET_MS
    }
    return held
  }

  return {
    async get() {
      if (held !== null && isFresh(held, now() < failedUntil ? 0 : EARLY_MS)) return held
      fetching ??= renewed().finally(() => {
        fetching = null
      })
      return fetching
    },
    forget(refused, isNew) {
      if (held !== refused) return true
      // A file costs nothing to read, and somebody may have changed it.
      if (isNew && !refused.isReread) refusedUntil = now() + QUIET_MS
      if (now() < refusedUntil) return false
      held = null
      return true
    },
  }
}
