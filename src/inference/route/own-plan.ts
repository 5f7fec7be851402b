import { soleRelay } from '../relay/sole-relay.ts'
import { type OwnKey, requireOwnKey, withOwnKey } from '../upstreams/own-key.ts'
import type { Candidate, Plan } from './route.ts'
import type { Routing } from './routing.ts'

/** The routing of calls with a credential of their client: to the first upstream of a route alone, drawn by no weight. */
export const ownRouting = (routing: Routing): Routing => ({
  ...routing,
  targets: (asked, role) => ({ all: [routing.first(asked, role)], isWeighted: false, hedgeAfterMs: null }),
})

/**
 * Plan of a call with the credential of its client: the upstream that comes first, and no other. Our keys and what is
 * known of them play no part: the relay has a circuit of its own, and none of its failures rests anything.
 *
 * @throws GazewayError `own_key_refused`
 */
export function ownPlan(plan: Plan, ownKey: OwnKey, endpoint: string): Plan {
  const all = plan.candidates(null)
  const { relays, path } = all[0] as Candidate
  const { provider } = relays.upstream
  requireOwnKey(provider, ownKey, { endpoint, isConverted: path !== endpoint })
  const own = soleRelay(relays.relayWith(withOwnKey(provider, ownKey)))
  // A plan proves itself to the API of its provider, not to one that stands in for it.
  const isFit = ({ relays: of, isStandIn }: Candidate) => of === relays && !(isStandIn && ownKey.kind === 'own_plan')
  const candidates = all.filter(isFit).map((candidate) => ({ ...candidate, relays: own, hedgeAfterMs: null }))
  return { ...plan, candidates: () => candidates }
}
