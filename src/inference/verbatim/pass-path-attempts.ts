import type { GazewayError } from '../../errors.ts'
import type { CallerContext } from '../admit/admit.ts'
import type { Bill } from '../admit/bill.ts'
import type { Caller, OwnObjects } from '../admit/own-objects.ts'
import { billedFields } from '../admit/worst-case.ts'
import { limitsAt } from '../api/answer-limit.ts'
import { ReportedError } from '../api/reported-error.ts'
import { askForUsage } from '../api/usage-request.ts'
import { attemptOrder, circuitOf, hasChoice, type Selection } from '../attempt/attempt-order.ts'
import { cooldownAfter, isEnded, MAX_ATTEMPTS, MAX_TIME_MS } from '../attempt/fallback.ts'
import { errorEvent } from '../passages/error-event.ts'
import { type Answered, answered, type Failed, failed } from '../passages/passage.ts'
import { attemptHeaders, bodyText, passedHeaders } from '../passages/upstream-reply.ts'
import type { StreamReply, WholeReply } from '../relay/exchange.ts'
import { heldReceiver } from '../relay/held-receiver.ts'
import type { Receiver } from '../relay/receiver.ts'
import { requestBody } from '../relay/request-body.ts'
import { endingOf } from '../relay/send.ts'
import type { BilledReceiver } from '../settle/billed-receiver.ts'
import { beginCall, type SettleDeps, type Settled } from '../settle/settle.ts'
import { hideSecrets, upstreamFailure } from '../upstreams/failure.ts'
import type { ModelChoice } from '../upstreams/provider.ts'
import { formWithModel } from './form-model.ts'
import { passReply } from './pass-path-reply.ts'
import type { PathRequest } from './path-request.ts'
import type { Place, PlacesFor } from './places.ts'

/** Context of a request to a passed-through path. */
export interface Passing {
  held: BilledReceiver
  bill: Bill
  caller: Caller
  context: CallerContext
  objects: OwnObjects
}

/** One attempt, with its result. */
export interface PathAttempt extends Settled {
  selection: Selection<Place>
  passed: Answered | Failed
}

/**
 * Tries one destination after another until one answers, by the rules of `fallback.ts`, and passes its reply on. Each
 * attempt is settled separately; later ones refer to the first in `fallback_from`. When all fail, the client gets the
 * reply of the first.
 *
 * @throws GazewayError when there was no reply, before the first byte
 */
export async function attemptPlaces(
  deps: SettleDeps,
  asked: PathRequest,
  places: PlacesFor,
  passing: Passing,
): Promise<PathAttempt> {
  const { held } = passing
  const mayRest = hasChoice(places)
  const stream = mayRest && asked.body.json.stream === true
  const waiting = stream ? heldReceiver(held, places[0].relays.all[0].heartbeat) : null
  const receiver = waiting ?? held
  const made: PathAttempt[] = []
  const began = performance.now()
  try {
    const call = { endpoint: asked.route.path, request: asked.body, context: passing.context }
    for (const selection of attemptOrder(places, () => made.at(-1)?.passed, call)) {
      if (made.length >= MAX_ATTEMPTS || performance.now() - began > MAX_TIME_MS) break
      const turn = { receiver, attempt: made.length + 1, fallbackFrom: made[0]?.callId }
      const one = await tryOne(deps, asked, selection, { ...passing, ...turn })
      const { passed } = one
      if (passed.kind === 'answered') return one
      if (isEnded(passed.outcome.error)) return tell(one, { ...passing, ...turn })
      made.push(one)
      const { candidate, relay } = selection
      if (mayRest) candidate.relays.rest(relay, circuitOf(candidate, call.context), cooldownAfter(passed.refused))
    }
    const [first] = made as [PathAttempt, ...PathAttempt[]]
    if (waiting?.isBegun()) return sendErrorEvent(first, asked, passing)
    return tell(first, { ...passing, attempt: made.length })
  } finally {
    waiting?.release()
  }
}

/** Receiver of an attempt's reply, and the attempt's number, from 1. */
interface Turn {
  receiver: Receiver
  /** Number of the attempt, from 1. */
  attempt: number
  /** Id of the first attempt. Undefined for the first itself. */
  fallbackFrom: string | undefined
}

async function tryOne(
  deps: SettleDeps,
  asked: PathRequest,
  selection: Selection<Place>,
  { receiver, attempt, fallbackFrom, ...passing }: Passing & Turn,
): Promise<PathAttempt> {
  const { provider } = selection.relay
  const { candidate, skipped } = selection
  const { model } = candidate
  const { bill, context } = passing
  const { path } = asked.route
  const { json } = asked.body
  const stream = json.stream === true
  const call = beginCall(deps, { provider, path, model, stream, request: json, fallbackFrom, skipped, bill }, context)
  let reply: WholeReply | StreamReply | undefined
  let passed: Answered | Failed
  try {
    reply = await send(asked, selection, { receiver, bill, context })
    passed = await passReply(asked, { ...passing, receiver, provider, attempt, call }, reply)
    const unpaid = await passing.held.paid()
    if (unpaid !== null) passed = answered(reply.status, passed.outcome, unpaid)
  } catch (cause) {
    const failure = upstreamFailure(cause, provider, endingOf(receiver))
    // It had begun to answer, unless it reports an error instead.
    if (reply && !(cause instanceof ReportedError)) failure.upstreamStatus ??= reply.status
    passed = failed(failure, reply?.status ?? null)
  }
  const { outcome } = passed
  if (outcome.error) outcome.error.callId = call.callId
  return { ...(await call.settle({ ...outcome, isHad: passed.kind === 'answered' })), selection, passed }
}

async function send(
  { route, target, body, formType }: PathRequest,
  { relay, candidate, isLastResort }: Selection<Place>,
  { receiver, bill, context }: Pick<Passing & Turn, 'receiver' | 'bill' | 'context'>,
): Promise<WholeReply | StreamReply> {
  const { written, type } = await bodyOf({ route, body, formType }, candidate.model, bill)
  const headers = { ...context.headers, ...(type !== null && { 'content-type': type }) }
  const stream = body.json.stream === true
  const circuit = circuitOf(candidate, context)
  const sending = { method: route.method, body: written, stream, via: context.via, headers, circuit, isLastResort }
  return relay.open(target, sending, receiver)
}

/**
 * Passes a failure on: the upstream's own reply when there was one.
 *
 * @throws its error otherwise
 */
function tell(
  one: PathAttempt,
  { held, bill, attempt }: Pick<Passing & Turn, 'held' | 'bill' | 'attempt'>,
): PathAttempt {
  const { passed, callId, selection } = one
  const { provider } = selection.relay
  const { refused, outcome } = passed as Failed
  if (refused === null) {
    outcome.error.headers = { ...outcome.error.headers, ...attemptHeaders({ provider, attempt }) }
    throw outcome.error
  }
  const { status, headers, announced } = refused
  const shown = passedHeaders(
    { ...headers, 'content-type': announced },
    { callId, provider, attempt, limits: bill.headers },
  )
  held.whole(status, shown, hideSecrets(bodyText(refused), provider.secrets))
  return one
}

function sendErrorEvent(one: PathAttempt, { route }: PathRequest, { held, context }: Passing): PathAttempt {
  const { error } = one.passed.outcome as { error: GazewayError }
  held.end(errorEvent(route.path, error, context.requestId, held.nextNumber()))
  return one
}

/**
 * The client's bytes, when the fields that determine the bill occur once in them. Otherwise rewritten, with the
 * upstream's model id, and the token limit if one is needed. A form is rewritten only for another model id.
 *
 * @returns the body, and the content type of a form
 */
async function bodyOf(
  { route, body, formType }: Pick<PathRequest, 'route' | 'body' | 'formType'>,
  model: ModelChoice | null,
  { isBounded, answerLimit }: Bill,
): Promise<{ written: Buffer | string | null; type: string | null }> {
  if (route.body === 'none') return { written: null, type: null }
  const isNamed = model !== null && model.upstream !== ''
  if (formType !== null) {
    const form = { written: body.bytes, type: formType }
    return isNamed && model.upstream !== body.json.model ? formWithModel(form, model.upstream) : form
  }
  const { json } = body
  const [limit] = limitsAt(route.path)
  const fields = {
    ...(isBounded && billedFields(json)),
    ...(isNamed && { model: model.upstream }),
    ...(route.path === '/completions' && json.stream === true && askForUsage(json)),
    ...(limit !== undefined && answerLimit !== null && { [limit]: answerLimit }),
  }
  return { written: await requestBody(body, fields), type: null }
}
