import type { Admission } from './admit.ts'
import { isOfKey, isOtherAsked, isStandInAsked } from './fallback.ts'
import type { Answered, Failed } from './relay/passing.ts'
import type { Relay } from './relay/relay.ts'
import type { Candidate } from './route.ts'

/** A candidate with the key to use. */
export interface Asking {
  candidate: Candidate
  relay: Relay
  /**
   * True when only another endpoint of the same upstream and key could follow. Transient errors are then retried here.
   */
  isLast: boolean
}

/**
 * Generates candidates with their keys in the order to try them. Skipped are:
 * - keys that are cooling down;
 * - endpoints whose circuit breaker is open;
 * - candidates that could do no better after the last failure.
 *
 * If nothing else can be asked, the first that was skipped is tried anyway: its answer says how long to wait.
 *
 * @param last result of the last attempt; undefined before the first
 */
export function* attemptOrder(
  candidates: readonly Candidate[],
  last: () => Answered | Failed | undefined,
  call: Admission,
): Generator<Asking, void> {
  const first = candidates[0] as Candidate
  let leftOut: Candidate | null = null
  const end = candidates.at(-1) as Candidate
  const isOneUpstream = candidates.every(({ relays }) => relays === first.relays)
  let asked: Candidate | null = null

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

function isAskedAfter(failure: Failed, candidate: Candidate, asked: Candidate | null, call: Admission): boolean {
  if (!candidate.isStandIn) return isOtherAsked(failure, call)
  return asked?.relays === candidate.relays && isStandInAsked(failure, call)
}

/** Tells whether there is more than one key or upstream. Only then do keys cool down. */
export function hasChoice(candidates: readonly Candidate[]): boolean {
  const { relays } = candidates[0] as Candidate
  return relays.all.length > 1 || candidates.some((candidate) => candidate.relays !== relays)
}
