import type { Facts } from '../dialect/facts.ts'
import { errorReason } from '../dialect/refusal.ts'
import type { Answered, Failed } from '../passages/passage.ts'
import type { Candidate } from '../route/route.ts'
import { type AskedFor, isBound } from './fallback.ts'

/** Name of the fact that an upstream lacks the responses endpoint. */
const NO_RESPONSES = 'no_responses'
/** Statuses by which servers answer for a path that they do not have. */
export const MISSING: ReadonlySet<number> = new Set([404, 405, 501])
/** Wordings of a 404 about something else: a model, or an object that the request names. */
const ABOUT_OBJECT = /\bmodel|\bitem\b|with id/i

/** Tells whether the reason of a 404 is a model or an object that the request names. */
export const isAboutObject = (reason: string): boolean => ABOUT_OBJECT.test(reason)

/** An attempt, as far as it tells which endpoints exist. */
interface Tried {
  selection: { candidate: Candidate }
  passed: Answered | Failed
}

/** Tells whether an upstream answered that it does not have the endpoint of an attempt. */
export const isMissing = ({ passed }: Tried): boolean =>
  passed.kind === 'failed' &&
  passed.refused !== null &&
  MISSING.has(passed.refused.status) &&
  !isAboutObject(errorReason(passed.refused))

/** Tells whether another endpoint of the same upstream has stood in for the one of an attempt, which does not exist. */
const isReplaced = (tried: Tried, others: readonly Tried[]): boolean =>
  isMissing(tried) &&
  others.some((other) => {
    const { candidate } = other.selection
    return candidate.isStandIn && candidate.relays === tried.selection.candidate.relays && !isMissing(other)
  })

/** The attempt whose failure the client gets: the first at an endpoint that exists. */
export const toldAttempt = <Of extends Tried>(all: readonly Of[]): Of | undefined =>
  all.find((one) => !isReplaced(one, all)) ?? all[0]

/** Remembers of the attempts of a call which upstreams lack its endpoint. */
export function learnMissing(facts: Facts, all: readonly Tried[], { context }: AskedFor): void {
  for (const one of all)
    if (isReplaced(one, all))
      facts.learn(one.selection.candidate.relays.upstream.provider.name, '', context.callerId, [NO_RESPONSES])
}

/** Omits endpoints that are known to be missing where another stands in, unless the request is bound to them. */
export function withoutMissing(facts: Facts, candidates: readonly Candidate[], call: AskedFor): readonly Candidate[] {
  if (!candidates.some(({ isStandIn }) => isStandIn) || isBound(call)) return candidates
  return candidates.flatMap((candidate, index) => {
    const { isStandIn, relays } = candidate
    const isKnown = facts.of(relays.upstream.provider.name, '', call.context.callerId).includes(NO_RESPONSES)
    if (!isKnown) return candidate
    const hasStandIn = candidates[index + 1]?.isStandIn === true && candidates[index + 1]?.relays === relays
    if (!isStandIn) return hasStandIn ? [] : candidate
    return { ...candidate, isStandIn: false }
  })
}
