import type { GazewayError } from '../errors.ts'
import { costOf } from '../wallet/receipts/receipts.ts'
import { type Admission, admit, type CallerContext, type ModelRequest } from './admit/admit.ts'
import type { RequestBillDeps } from './admit/bill-request.ts'
import { GENERATE_CONTENT } from './api/gemini-endpoints.ts'
import type { Result } from './attempt/try-candidate.ts'
import { type AttemptDeps, tryCandidates } from './attempt/try-candidates.ts'
import { onceAdmitted } from './attempt/wait-for-admission.ts'
import { errorEvent } from './passages/error-event.ts'
import { UNCOUNTED_CALL } from './rates/call-rates.ts'
import type { Receiver } from './relay/receiver.ts'
import { ownPlan } from './route/own-plan.ts'
import { atKeeper, type Candidate, type Plan, type Planned, type Plans } from './route/route.ts'
import type { Routing } from './route/routing.ts'
import { affinityOf } from './session/affinity.ts'
import { stoppableReceiver } from './session/stoppable-receiver.ts'
import { billedReceiver } from './settle/billed-receiver.ts'

/** Dependencies of model calls. */
export interface CallDeps extends AttemptDeps {
  /** Finds the upstreams that can answer. */
  routing: Routing
  /** Admits and bills calls. */
  billing: Omit<RequestBillDeps, 'prices' | 'countTokens'>
}

/**
 * Makes a call to a model provider: of a tool, or of a client over HTTP; converted, or passed on verbatim. Its steps:
 *
 * 1. `route` finds the candidates. 2. `admit` checks permissions and reserves the cost. 3. `tryCandidates` sends it,
 * and passes the reply to the receiver while observing it. 4. `settle` bills and records the call.
 *
 * @param plan result of the first step
 * @returns when the reply is complete and recorded
 * @throws GazewayError as `admit` and `tryCandidates`, before the first byte of the reply
 */
export type MakeCall = (asked: ModelRequest, plan: Plan, receiver: Receiver, context: CallerContext) => Promise<Result>

/** Dependencies of admission, for a call. */
const admitting = ({ billing, prices, countTokens }: CallDeps): RequestBillDeps => ({
  ...billing,
  prices,
  countTokens,
})

/** Candidates of a call in their order, of the upstream that stores what it continues alone. */
const candidatesFor = ({ context, keeper = null }: Admission, plan: Plan): readonly Candidate[] =>
  atKeeper(plan.candidates(affinityOf(context)), keeper)

/** Creates the function that makes calls. */
export function createMakeCall(deps: CallDeps): MakeCall {
  const admits = admitting(deps)
  // What the account of a client needs is no fact about ours.
  const ofOwnKeys = { ...deps, facts: { of: deps.facts.of, learn() {} } }

  return (asked, plan, receiver, context) => {
    const { callerId, session, requestId } = context
    const sessionId = session?.session_id ?? null
    if (callerId === null || sessionId === null) return makeFor(asked, plan, receiver, context)
    const { endpoint, request } = asked
    const { receiver: client, stop } = stoppableReceiver(receiver, (error, number) =>
      errorEvent(endpoint, error, requestId, number),
    )
    const { sessionGate } = deps.billing
    const over = sessionGate.add({ callerId, sessionId, stop })
    try {
      return makeFor(asked, plan, client, context).then(
        (result) => {
          over()
          if (result.failure === null) sessionGate.answered(request.json)
          return result
        },
        (error: unknown) => {
          over()
          throw error
        },
      )
    } catch (error) {
      over()
      throw error
    }
  }

  // Avoids promises where possible: each one is a measurable share of a request.
  function makeFor(...[asked, planned, receiver, context]: Parameters<MakeCall>): Promise<Result> {
    const plan = context.ownKey === undefined ? planned : ownPlan(planned, context.ownKey, asked.endpoint)
    const askedAt = performance.now()
    const admitted = admit(admits, asked, plan, context, receiver.isGone)
    if (!(admitted instanceof Promise)) return make(admitted, plan, receiver)
    const waiting = { asked, admitted, receiver, context }
    return onceAdmitted(deps.heartbeat, waiting, (call, client) => {
      call.waitedMs = performance.now() - askedAt
      return make(call, plan, client)
    })
  }

  function make(call: Admission, plan: Plan, receiver: Receiver): Promise<Result> {
    const { isBounded, isCharged, headers, end } = call.bill
    // A request that is passed on verbatim may get a stream that it did not ask for.
    const mayStream = call.verbatim !== null || call.request.json.stream === true
    if (isCharged || (isBounded && mayStream)) return billed(call, plan, receiver)
    // An answer that is not streamed has a token limit, and need not wait for money when it is not charged.
    const by = call.context.ownKey === undefined ? deps : ofOwnKeys
    const made = tryCandidates(by, call, candidatesFor(call, plan), receiver)
    return isBounded || headers !== UNCOUNTED_CALL.headers ? made.finally(end) : made
  }

  async function billed(call: Admission, plan: Plan, receiver: Receiver): Promise<Result> {
    const { bill, endpoint, context } = call
    const started = performance.now()
    const toErrorEvent = (error: GazewayError, number: number) => errorEvent(endpoint, error, context.requestId, number)
    try {
      const held = billedReceiver(receiver, bill, {
        errorEvent: toErrorEvent,
        tellsCost: endpoint !== GENERATE_CONTENT,
        countTokens: deps.countTokens,
      })
      const result = await tryCandidates(deps, call, candidatesFor(call, plan), held)
      const { callId, usage } = result
      const model = call.verbatim === null ? result.model : (plan.choices[0]?.requested ?? '')
      const latencyMs = Math.round(performance.now() - started)
      const receipt = await bill.settle({ callId, model, usage, latencyMs, path: `/v1${endpoint}` }).catch((error) => {
        if (!held.fail(error)) throw error
        return null
      })
      held.finish(callId, receipt && costOf(receipt))
      return result
    } finally {
      await bill.end()
    }
  }
}

/**
 * Calls a model endpoint.
 *
 * @throws GazewayError as `Plans` and `MakeCall`
 */
export type CallModel = (
  asked: ModelRequest & { endpoint: Planned },
  receiver: Receiver,
  context: CallerContext,
) => Promise<Result>

/**
 * Creates the function that calls model endpoints.
 *
 * @param ownPlans plans of calls with a credential of their client
 */
export const createCallModel =
  (makeCall: MakeCall, plans: Plans, ownPlans: Plans = plans): CallModel =>
  (asked, receiver, context) => {
    try {
      const planned = context.ownKey === undefined ? plans : ownPlans
      return makeCall(asked, planned(asked.endpoint, asked.request.json.model ?? undefined), receiver, context)
    } catch (error) {
      return Promise.reject(error)
    }
  }
