import { type AskedFor, isOfKey, isOtherAsked, isStandInAsked } from './fallback.ts'
import type { Answered, Failed } from './relay/passing.ts'
import type { Relay } from './relay/relay.ts'
import type { Candidate } from './route.ts'

/** An upstream and a path to send to. `isStandIn`: another endpoint of the previous upstream. */
export type Destination = Pick<Candidate, 'relays' | 'isStandIn'> & { path: string }

/** A candidate with the key to use. */
export interface Selection<Of extends Destination = Candidate> {
  candidate: Of
  relay: Relay
  /**
   * True when only another endpoint of the same upstream and key could follow. Transient errors are then retried here.
   */
  isLast: boolean
}

/**
 * Generates candidates with their keys in the order to try them. Skips:
 * - keys that are cooling down;
 * - endpoints whose circuit breaker is open;
 * - candidates that could do no better after the last failure.
 *
 * If no candidate is left, the first one skipped is tried: its answer says how long to wait.
 *
 * @param last result of the last attempt; undefined before the first
 */
export function* attemptOrder<Of extends Destination>(
  candidates: readonly Of[],
  last: () => Answered | Failed | undefined,
  call: AskedFor,
): Generator<Selection<Of>, void> {
  const first = candidates[0] as Of
  let leftOut: Of | null = null
  const end = candidates.at(-1) as Of
  const isOneUpstream = candidates.every(({ relays }) => relays === first.relays)
  let asked: Of | null = null

  for (const candidate of candidates) {
    const { relays, path } = candidate
    const failure = last()
    if (failure?.kind === 'failed' && !isAskedAfter(failure, candidate, asked, call)) continue
    if (failure === undefined && candidate.isStandIn) continue
    const awake = isOneUpstream || !relays.isOpen(path) ? relays.awake() : []
    if (awake.length === 0) leftOut ??= candidate
    for (const relay of awake) {
      asked = candidate
      yield { candidate, relay, isLast: relays === end.relays && relay === awake.at(-1) }
      const failed = last()
      if (failed?.kind !== 'failed' || !isOfKey(failed, call)) break
    }
  }
  if (leftOut !== null && last() === undefined)
    yield { candidate: leftOut, relay: leftOut.relays.firstAwake(), isLast: true }
}

function isAskedAfter(failure: Failed, candidate: Destination, asked: Destination | null, call: AskedFor): boolean {
  if (!candidate.isStandIn) return isOtherAsked(failure, call)
  return asked?.relays === candidate.relays && isStandInAsked(failure, call)
}

/** Tells whether there is more than one key or upstream. Only then do keys cool down. */
export function hasChoice(candidates: readonly Destination[]): boolean {
  const { relays } = candidates[0] as Destination
  return relays.all.length > 1 || candidates.some((candidate) => candidate.relays !== relays)
}
