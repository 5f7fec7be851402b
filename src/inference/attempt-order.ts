import type { Admission } from './admit.ts'
import { isOfKey, isOtherAsked, isStandInAsked } from './fallback.ts'
import type { Answered, Failed } from './relay/passing.ts'
import type { Relay } from './relay/relay.ts'
import type { Candidate } from './route.ts'

/** A candidate, and the key that it is asked with. */
export interface Asking {
  candidate: Candidate
  relay: Relay
  /** Whether nothing else can be asked after it but an endpoint of the same upstream and key: transient errors are retried there. */
  isLast: boolean
}

/**
 * The candidates with their keys, in the order in which they are asked. Those are left out whose keys rest, that the circuit
 * breaker leaves alone, and that could not answer better after the last failure. Where all would be left out, the first is
 * asked all the same.
 *
 * @param last what came of the candidate that was asked last; undefined before the first
 */
export function* attemptOrder(
  candidates: readonly Candidate[],
  last: () => Answered | Failed | undefined,
  call: Admission,
): Generator<Asking, void> {
  const first = candidates[0] as Candidate
  const end = candidates.at(-1) as Candidate
  const isOneUpstream = candidates.every(({ relays }) => relays === first.relays)
  let asked: Candidate | null = null

  for (const candidate of candidates) {
    const { relays, path } = candidate
    const failure = last()
    if (failure?.kind === 'failed' && !isAskedAfter(failure, candidate, asked, call)) continue
    if (failure === undefined && candidate.isStandIn) continue
    if (!isOneUpstream && relays.isLeftAlone(path)) continue
    const awake = relays.awake()
    for (const relay of awake) {
      asked = candidate
      yield { candidate, relay, isLast: relays === end.relays && relay === awake.at(-1) }
      const failed = last()
      if (failed?.kind !== 'failed' || !isOfKey(failed, call)) break
    }
  }
  if (asked === null) yield { candidate: first, relay: first.relays.firstAwake(), isLast: true }
}

function isAskedAfter(failure: Failed, candidate: Candidate, asked: Candidate | null, call: Admission): boolean {
  if (!candidate.isStandIn) return isOtherAsked(failure, call)
  return asked?.relays === candidate.relays && isStandInAsked(failure, call)
}

/** Whether there is more than one key or upstream: only then does a key rest. */
export function hasChoice(candidates: readonly Candidate[]): boolean {
  const { relays } = candidates[0] as Candidate
  return relays.all.length > 1 || candidates.some((candidate) => candidate.relays !== relays)
}
