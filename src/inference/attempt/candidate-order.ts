import type { SkippedCandidate } from '../../calls/call-record.ts'
import type { Answered, Failed } from '../passages/passage.ts'
import type { Relay } from '../relay/relay.ts'
import type { Candidate } from '../route/route.ts'
import { affinityOf, drawn } from '../session/affinity.ts'
import type { Circuit } from '../upstreams/circuits.ts'
import { type AskedFor, isOfKey, isOtherAsked, isStandInAsked } from './fallback.ts'

/** An upstream and a path to send to. `isStandIn`: another endpoint of the previous upstream. */
export type Destination = Pick<Candidate, 'relays' | 'isStandIn' | 'modelId'> & { path: string }

/** A candidate with the key to use. */
export interface Selection<Of extends Destination = Candidate> {
  candidate: Of
  relay: Relay
  /**
   * True when only another endpoint of the same upstream and key could follow. Transient errors are then retried here.
   */
  isLast: boolean
  /** True when nothing else is left to try. */
  isLastResort: boolean
  /** Candidates passed over since the previous attempt. */
  skipped: SkippedCandidate[]
}

/** Circuit of a request to a destination. Null when it asks no model. */
export function circuitOf({ path, modelId }: Destination, { callerId }: AskedFor['context']): Circuit | null {
  return modelId === null ? null : { path, model: modelId, callerId }
}

/** Keys of a candidate in the order to try them: those of a session in its own, so that a provider's cache is found. */
export function keyOrder(awake: readonly Relay[], { context }: Pick<AskedFor, 'context'>): readonly Relay[] {
  const affinity = awake.length > 1 ? affinityOf(context) : null
  return affinity === null ? awake : drawn(awake, keyTerms, affinity)
}

const keyTerms = ({ provider }: Relay) => ({ name: provider.apiKey ?? '', weight: 1 })

/** Reason to pass over a candidate: its circuit breaker is open, or all its keys are cooling down. Null for none. */
export function whySkipped(candidate: Destination, circuit: Circuit | null): SkippedCandidate['reason'] | null {
  const { relays } = candidate
  if (relays.isOpen(circuit)) return 'circuit_open'
  return relays.awake(circuit).length === 0 ? 'keys_resting' : null
}

/** A candidate that was passed over, for the record of the call, which its caller may read: without a host. */
export const skippedAs = ({ relays }: Destination, reason: SkippedCandidate['reason']): SkippedCandidate => ({
  upstream: relays.upstream.provider.label,
  reason,
})

/**
 * Generates candidates with their keys in the order to try them. Passes over:
 * - keys that are cooling down;
 * - candidates whose circuit breaker is open;
 * - candidates that could do no better after the last failure.
 *
 * When no other candidate answers, those with an open circuit or resting keys are tried after all: an open circuit
 * admits a probe each second then, and a refusal says how long to wait.
 *
 * @param last result of the last attempt; undefined before the first
 */
export function* candidateOrder<Of extends Destination>(
  candidates: readonly Of[],
  last: () => Answered | Failed | undefined,
  call: AskedFor,
): Generator<Selection<Of>, void> {
  const [first] = candidates as readonly [Of, ...Of[]]
  const end = candidates.at(-1) as Of
  const isOneUpstream = candidates.every(({ relays }) => relays === first.relays)
  /** Candidates passed over, with the other endpoints of their upstreams. */
  const left: Of[] = []
  let skipped: SkippedCandidate[] = []
  let asked: Of | null = null

  for (const candidate of candidates) {
    const { relays } = candidate
    if (candidate.isStandIn && left.at(-1)?.relays === relays) {
      left.push(candidate)
      continue
    }
    if (!isDue(candidate)) continue
    const circuit = circuitOf(candidate, call.context)
    const reason = isOneUpstream ? null : whySkipped(candidate, circuit)
    const awake = keyOrder(relays.awake(circuit), call)
    if (reason !== null || awake.length === 0) {
      left.push(candidate)
      if (reason !== null) skipped.push(skippedAs(candidate, reason))
      continue
    }
    const isLastResort = isOneUpstream && candidate === end
    for (const relay of awake) {
      asked = candidate
      yield { candidate, relay, isLast: relays === end.relays && relay === awake.at(-1), isLastResort, skipped }
      skipped = []
      const failed = last()
      if (failed?.kind !== 'failed' || !isOfKey(failed, call)) break
    }
  }
  for (const candidate of left) {
    if (!isDue(candidate)) continue
    asked = candidate
    const relay = candidate.relays.firstAwake(circuitOf(candidate, call.context))
    yield { candidate, relay, isLast: true, isLastResort: true, skipped: [] }
  }

  function isDue(candidate: Of): boolean {
    const failure = last()
    return failure?.kind === 'failed' ? isAskedAfter(failure, candidate, asked, call) : !candidate.isStandIn
  }
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
