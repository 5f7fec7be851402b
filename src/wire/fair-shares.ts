/** A place that was asked for. */
export interface Place {
  /** True until it is granted. */
  isWaiting(): boolean
  /** Gives it back, or stops waiting for it. */
  end(): void
}

/** A waiting request for a place. An object, so that two of one key differ. */
interface Waiting {
  begin(): void
}

/**
 * Number of callers up to which those that hold no place stay remembered. A `Map` whose entries come and go with single calls takes
 * a new table again and again, each of which refers to the next, see `in-flight.ts`.
 */
const MOST_REMEMBERED = 1000

/** Places that callers share. */
export interface FairShares {
  /**
   * Asks for a place.
   *
   * @param callerId id of the caller's key. Callers without a key count as one
   * @param begin called in a later turn, once there is a place
   */
  take(callerId: string | null, begin: () => void): Place
}

/**
 * Shares places between callers, by the rule of `BufferedBytes`: a caller may have as many as stay free beside it, alone
 * half of them, two callers a third each. The next caller always finds one. A caller that has its share waits, and callers
 * that wait take turns.
 */
export function createFairShares(places: number): FairShares {
  /** Callers that hold none stay at 0, up to {@link MOST_REMEMBERED} callers. */
  const held = new Map<string | null, number>()
  /** Callers in the order of their turns. */
  const waiting = new Map<string | null, Set<Waiting>>()
  let taken = 0

  const hasRoom = (callerId: string | null) => (held.get(callerId) ?? 0) + 1 <= places - taken - 1

  function grant(callerId: string | null, { begin }: Waiting): void {
    held.set(callerId, (held.get(callerId) ?? 0) + 1)
    taken++
    // Not `queueMicrotask`, which makes an async resource for each.
    void Promise.resolve().then(begin)
  }

  function giveBack(callerId: string | null): void {
    const left = (held.get(callerId) ?? 0) - 1
    if (left === 0 && held.size > MOST_REMEMBERED) held.delete(callerId)
    else held.set(callerId, left)
    taken--
    if (waiting.size === 0) return
    for (const [next, queue] of [...waiting]) {
      const [place] = queue
      if (place === undefined || !hasRoom(next)) continue
      leave(next, place)
      grant(next, place)
    }
  }

  /** Leaves the queue of a caller, whose next turn comes after those of the others. */
  function leave(callerId: string | null, place: Waiting): void {
    const queue = waiting.get(callerId)
    if (!queue?.delete(place)) return
    waiting.delete(callerId)
    if (queue.size > 0) waiting.set(callerId, queue)
  }

  return {
    take(callerId, begin) {
      const place = { begin }
      if (hasRoom(callerId) && !waiting.has(callerId)) grant(callerId, place)
      else waiting.set(callerId, (waiting.get(callerId) ?? new Set()).add(place))
      const isWaiting = () => waiting.get(callerId)?.has(place) === true
      return { isWaiting, end: () => (isWaiting() ? leave(callerId, place) : giveBack(callerId)) }
    },
  }
}
