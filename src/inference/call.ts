import type { GazewayError } from '../errors.ts'
import { type Admission, type AdmitDeps, admit, type CallerContext, type ModelRequest } from './admit/admit.ts'
import { NO_HEADERS } from './admit/call-rates.ts'
import { attempt } from './attempt/attempt.ts'
import type { Result } from './attempt/try-one.ts'
import { errorEvent } from './passages/error-event.ts'
import type { Receiver } from './relay/receiver.ts'
import type { Relays } from './relay/relays.ts'
import { type Candidate, createPlans, type Plan } from './route/route.ts'
import type { Routing } from './route/routing.ts'
import { billedReceiver } from './settle/billed-receiver.ts'
import type { SettleDeps } from './settle/settle.ts'
import type { NamedUpstream } from './upstreams/named-upstream.ts'

/** Dependencies of model calls. */
export interface CallDeps extends SettleDeps {
  /** Finds the upstreams that can answer. */
  routing: Routing
  /** Admits and bills calls. */
  billing: Omit<AdmitDeps, 'prices' | 'countTokens'>
}

/**
 * Makes a model call, for tools and for clients over HTTP alike. Its steps:
 *
 * 1. `route` finds the candidates. 2. `admit` checks permissions and reserves the cost. 3. `attempt` sends the request,
 * and passes the reply to the receiver while observing it. 4. `settle` bills and records the call.
 *
 * @returns when the reply is complete and recorded
 * @throws GazewayError as `Plans`, `admit` and `attempt`, before the first byte of the reply
 */
export type CallModel = (asked: ModelRequest, receiver: Receiver, context: CallerContext) => Promise<Result>

/** Dependencies of admission, for a call. */
export const admitting = ({ billing, prices, countTokens }: CallDeps): AdmitDeps => ({
  ...billing,
  prices,
  countTokens,
})

/** Creates the function that makes model calls. @param relaysOf finds the relays of an upstream */
export function createCallModel(deps: CallDeps, relaysOf: (upstream: NamedUpstream) => Relays): CallModel {
  const admits = admitting(deps)
  const plans = createPlans(deps.routing, relaysOf)

  // Avoids promises where possible: each one is a measurable share of a request.
  return (asked, receiver, context) => {
    try {
      const plan = plans(asked.endpoint, asked.request.json.model ?? undefined)
      const admitted = admit(admits, asked, plan, context)
      if (admitted instanceof Promise) return admitted.then((call) => make(call, plan, receiver))
      return make(admitted, plan, receiver)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  function make(call: Admission, plan: Plan, receiver: Receiver): Promise<Result> {
    const { isBounded, isCharged, headers, end } = call.bill
    if (isCharged || (isBounded && call.request.json.stream === true)) return billed(call, plan, receiver)
    // An answer that is not streamed has a token limit, and need not wait for money when it is not charged.
    const made = attempt(deps, call, candidatesOf(plan, call), receiver)
    return isBounded || headers !== NO_HEADERS ? made.finally(end) : made
  }

  async function billed(call: Admission, plan: Plan, receiver: Receiver): Promise<Result> {
    const { bill, endpoint, context } = call
    const started = performance.now()
    const toErrorEvent = (error: GazewayError, number: number) => errorEvent(endpoint, error, context.requestId, number)
    const held = billedReceiver(receiver, bill, { errorEvent: toErrorEvent, countTokens: deps.countTokens })
    try {
      const result = await attempt(deps, call, candidatesOf(plan, call), held)
      const { callId, model, usage } = result
      const latencyMs = Math.round(performance.now() - started)
      const charged = await bill.settle({ callId, model, usage, latencyMs, path: `/v1${endpoint}` }).catch((error) => {
        if (!held.fail(error)) throw error
        return null
      })
      held.finish(callId, charged)
      return result
    } finally {
      bill.end()
    }
  }
}

/**
 * Returns the candidates of a call. If the request continues stored state, only those at its upstream, when there are
 * any.
 */
function candidatesOf(plan: Plan, { keeper = null }: ModelRequest): readonly Candidate[] {
  const all = plan.candidates()
  if (keeper === null) return all
  const able = all.filter(({ relays }) => relays.upstream.provider.name === keeper)
  return able.length > 0 ? able : all
}
