import { NO_SESSION } from '../../calls/call-session.ts'
import { GazewayError } from '../../errors.ts'
import { type Identity, identityWithoutKey, isHeld, withoutMoney } from '../../identity/identity.ts'
import { EMBED_CONTENT, GENERATE_CONTENT } from '../api/gemini-endpoints.ts'
import type { Cost } from '../api/verbatim-paths.ts'
import type { CallRates } from '../rates/call-rates.ts'
import type { CountedCall } from '../rates/rate-share.ts'
import type { CallTokens } from '../rates/shared-window.ts'
import type { SessionGate } from '../session/session-gate.ts'
import type { ModelChoice } from '../upstreams/provider.ts'
import { type Bill, billOfOthers, countedBill, NO_BILL, type PaidContext } from './bill.ts'
import { requireCounts, requireExactNames } from './billed-fields.ts'
import { requireRecording } from './linked-recording.ts'
import { nameLimit } from './name-limit.ts'
import { beginCounted, type Prepare, preparedWith } from './prepared-call.ts'
import { NO_PARTS, type PricedParts, pricedParts } from './priced-parts.ts'
import type { NoteRefusal } from './refusals.ts'
import { repeatsNames } from './repeated-names.ts'
import { isOpen, longestAnswers, SPEECH } from './requested-answers.ts'
import { requireModels, requireNamed, requirePrices } from './require-allowed.ts'
import { type Reserved, reserveFor } from './reserve.ts'
import { type BillDeps, reservedBill } from './reserved-bill.ts'
import { unreservedBill } from './unreserved-bill.ts'
import { type BoundDeps, type BoundedRequest, boundOf, type CallBound, UNBOUNDED } from './worst-case.ts'

/** Approximate bytes per token of ordinary text. */
const BYTES_PER_TOKEN = 4

/** Dependencies of the bill of a request. */
export interface RequestBillDeps extends BillDeps, BoundDeps {
  rates: CallRates
  sessionGate: SessionGate
  noteRefusal: NoteRefusal
}

/** A request to bill. */
export interface BilledRequest {
  /** Endpoint, for the audit trail. */
  path: string
  request: BoundedRequest
  /** The models that may answer. */
  models(): readonly ModelChoice[]
  /** Finds further models that may answer, by asking upstreams for their lists. They count for the cost alone. */
  standIns?: (() => Promise<readonly ModelChoice[]>) | undefined
  /** Fetches the token limits of the models. Null when they are known. */
  limits(): Promise<unknown> | null
  /** Service that is called, if not the model provider. */
  upstream?: string | undefined
  /** Tells whether nobody waits for the reply any more. */
  isGone(): boolean
}

/**
 * Creates the bill of a request: checks the permissions of the key and reserves the worst-case cost.
 *
 * @param prepare prepares the call with the bill, which ends if that fails; the call then does not count in its session
 * @throws GazewayError `model_not_allowed`, `model_not_priced`, `limit_not_kept`, `too_many_requests`,
 *   `insufficient_credit`, `debt_open`, `budget_reached` or `session_budget_reached`, and as `prepare`
 */
export function billFor<Call extends object>(
  deps: RequestBillDeps,
  asked: BilledRequest,
  context: PaidContext,
  prepare: Prepare<Call>,
): Call | Promise<Call> {
  const { callerId, ownKey } = context
  const { session_id: sessionId, thread_id: threadId } = context.session ?? NO_SESSION
  const paid = billOfOthers(context)
  const isOurs = ownKey === undefined
  function refuse(error: unknown): never {
    const told = nameLimit(error, endpointOf(asked.path), asked.request.json)
    return refuseNoted(deps, { ...asked, requested: asked.models()[0]?.requested }, context, told)
  }
  try {
    if (callerId === null) {
      requirePrices(deps.prices, asked.models(), { isHeld: false, path: asked.path })
      return prepare(NO_BILL)
    }
    // Field by field: Node 20 takes microseconds for each field that is added to a spread.
    const prepareOfCaller = (key: Identity | null) =>
      prepareInSession(deps, asked, { callerId, sessionId, threadId, paid, isOurs, key }, prepare)
    const known = deps.identity(callerId)
    if (known instanceof Promise) return known.then(prepareOfCaller).catch(refuse)
    const call = prepareOfCaller(known)
    return call instanceof Promise ? call.catch(refuse) : call
  } catch (error) {
    return refuse(error)
  }
}

/** Refusals for what a request holds, which get no record. */
const UNRECORDED: readonly string[] = ['validation_failed', 'invalid_json']

/**
 * Records a refusal in the audit trail.
 *
 * @throws the error
 */
function refuseNoted(
  deps: RequestBillDeps,
  { path, upstream, requested }: Pick<BilledRequest, 'path' | 'upstream'> & { requested: string | undefined },
  { surface, callerId, address = null, session, tags }: PaidContext,
  error: unknown,
): never {
  if (error instanceof GazewayError && !error.isNoted && !UNRECORDED.includes(error.code))
    // The record of a request that leaves the model to the upstream has none.
    void deps.noteRefusal({
      surface,
      callerId,
      address,
      session,
      tags,
      path,
      upstream,
      requestedModel: requested || null,
      error,
    })
  throw error
}

/**
 * Creates the bill of a request that costs nothing itself: the key must be allowed to use the model, and its rate limits
 * apply. A request of unknown cost, such as a batch of calls made later, needs a key without limits on money and models.
 *
 * @throws GazewayError `model_not_allowed`, `forbidden_path` or `too_many_requests`; of a batch, as `SessionGate.begin`
 */
export async function billUnpriced(
  deps: RequestBillDeps,
  { path, cost, models }: { path: string; cost: Cost; models: readonly ModelChoice[] },
  context: PaidContext,
): Promise<Bill> {
  const { callerId } = context
  const key = callerId === null ? null : await deps.identity(callerId)
  if (key === null) return NO_BILL
  try {
    const caller = context.ownKey === undefined ? key : withoutMoney(key)
    const refusal = cost === 'unbounded' ? unboundedRefusal(caller, path) : null
    if (refusal) throw refusal
    if (models.length > 0) requireModels(key, models)
    const { session_id: sessionId, thread_id: threadId } = context.session ?? NO_SESSION
    // What costs nothing, such as the answer of an earlier call, is had after a stop, too.
    const isCall = cost === 'unbounded' && sessionId !== null
    const counting = isCall ? deps.sessionGate.begin(key, { sessionId, threadId }, {}) : null
    const nothing = () => ({ prompt: 0, answer: 0 })
    return await beginCounted(counting, async () => countedBill(NO_BILL, await deps.rates.begin(key, nothing)))
  } catch (error) {
    return refuseNoted(deps, { path, requested: models[0]?.requested }, context, error)
  }
}

/** Error for a key that may not start calls made later or elsewhere. Null when it may. */
export function unboundedRefusal(key: Identity, path: string): GazewayError | null {
  const refusal = (message: string) => new GazewayError('forbidden_path', message, { param: 'path' })
  if (isHeld(key))
    return refusal(
      `Calls to ${path} cannot be billed, so keys that are charged or have a budget may not make them. Use a key with --billing recorded and without budgets.`,
    )
  if (key.models === null) return null
  return refusal(
    `The models that ${path} uses are unknown, so keys that are limited to some models (${key.models.join(', ')}) may not call it. Use a key for all models.`,
  )
}

/** Caller of a request, as far as it is known. */
interface RequestCaller {
  callerId: string
  /** Session that its client names, and the agent of it. */
  sessionId: string | null
  threadId: string | null
  /** Bill of a call that its caller charges for itself. */
  paid: Bill | null
  /** False for a call with the client's own key of the provider, which costs nothing here. */
  isOurs: boolean
  /** Null for one without a key. */
  key: Identity | null
}

/** Counts the call in its session, for a key that limits the calls or minutes of sessions, and prepares it with its bill. */
function prepareInSession<Call extends object>(
  deps: RequestBillDeps,
  asked: BilledRequest,
  caller: RequestCaller,
  prepare: Prepare<Call>,
): Call | Promise<Call> {
  const { callerId, key, sessionId, threadId } = caller
  function prepared(): Call | Promise<Call> {
    const bill = billOf(deps, asked, caller)
    return bill instanceof Promise ? bill.then((made) => preparedWith(made, prepare)) : preparedWith(bill, prepare)
  }
  // Sessions of wallets are stopped, too.
  const owner = key ?? { id: callerId, sessionLimits: null }
  const begun = sessionId === null ? null : deps.sessionGate.begin(owner, { sessionId, threadId }, asked.request.json)
  if (begun === null) return prepared()
  return beginCounted(begun, prepared)
}

function billOf(
  deps: RequestBillDeps,
  asked: BilledRequest,
  { callerId, sessionId, paid, isOurs, key }: RequestCaller,
): Bill | Promise<Bill> {
  if (key === null && paid !== null) return paid
  const named = key ?? identityWithoutKey({ id: callerId, name: callerId, scopes: new Set(), wallet: null })
  const caller = isOurs ? named : withoutMoney(named)
  const choices = asked.models()
  const { json } = asked.request
  const isLimited = isHeld(caller) || caller.models !== null
  if (isLimited) requireExactNames(json)
  requireModels(caller, choices)
  const parts = isLimited ? pricedParts(choices, pricedFieldsOf(asked)) : NO_PARTS
  const fielded = [...parts.instead, ...parts.beside.map(({ model }) => model)]
  requireNamed(caller, choices, fielded)
  // The list of a provider may state prices that are not known yet.
  const limits = isHeld(caller) ? asked.limits() : null
  const terms = { isHeld: isHeld(caller), path: asked.path }
  if (limits === null && isOurs) requirePrices(deps.prices, [...choices, ...fielded], terms)
  if (!isHeld(caller)) return billWithin(deps, asked, { caller, sessionId, paid, bound: UNBOUNDED, parts })
  const within = (all: readonly ModelChoice[]) =>
    billWithin(deps, asked, { caller, sessionId, paid, bound: boundOfHeld(deps, asked, all, parts), parts })
  const kept = caller.billing === 'recorded' ? undefined : deps.absorbed.require(caller.id, choices)
  const standIns = asked.standIns?.()
  if (standIns === undefined && limits === null && kept === undefined) return within(choices)
  return Promise.all([standIns ?? [], limits, kept]).then(([found]) => {
    requirePrices(deps.prices, [...choices, ...fielded, ...found], terms)
    return within([...choices, ...found])
  })
}

/** Fields of a request that may change its price. The `speed` of speech is a number, and no service. */
const pricedFieldsOf = ({ path, request: { json } }: BilledRequest): BoundedRequest['json'] =>
  endpointOf(path) === SPEECH ? { ...json, speed: null } : json

/** Creates the bill of a call whose cost has an upper bound. */
function billWithin(
  deps: RequestBillDeps,
  { path, request, isGone }: BilledRequest,
  {
    caller,
    sessionId,
    paid,
    bound,
    parts,
  }: { caller: Identity; sessionId: string | null; paid: Bill | null; bound: CallBound; parts: PricedParts },
): Bill | Promise<Bill> {
  const { stream, background } = request.json
  // Lenient servers read other values than true as true.
  const isDetached = (background ?? false) !== false
  const tokens = () => tokensOf(deps, endpointOf(path), request)
  if (paid !== null) {
    const counted = deps.rates.begin(caller, tokens)
    return counted instanceof Promise ? counted.then((begun) => countedBill(paid, begun)) : countedBill(paid, counted)
  }
  const isOpenEnded = stream === true && !isDetached && isOpen(endpointOf(path), request.json)
  // A field that is there twice, once as null, has no value here, and may have one at Google.
  const isLimited = isHeld(caller) || caller.models !== null
  const isRewritten = parts.isRouted || (isHeld(caller) && isOfGoogle(path)) || (isLimited && repeatsNames(request))
  // Money first: a call that is refused for it takes nothing of the rate limits.
  function begin(reserved: Reserved): Bill | Promise<Bill> {
    const { reservation } = reserved
    function fail(error: unknown): never {
      reservation.end()
      throw error
    }
    const bill = (counted: CountedCall) =>
      reservation.left() === Number.POSITIVE_INFINITY
        ? countedBill(unreservedBill(deps, { key: caller, reservation, isRewritten }), counted)
        : reservedBill(deps, {
            key: caller,
            sessionId,
            bound,
            reserved,
            counted,
            isOpenEnded,
            isDetached,
            isRewritten,
          })
    try {
      const counted = deps.rates.begin(caller, tokens)
      return counted instanceof Promise ? counted.then(bill).catch(fail) : bill(counted)
    } catch (error) {
      return fail(error)
    }
  }
  const reserved = reserveFor(deps, { key: caller, sessionId }, bound, isGone)
  return reserved instanceof Promise ? reserved.then(begin) : begin(reserved)
}

/** Tokens that the rate limits count for a call until its usage is known. */
function tokensOf(deps: RequestBillDeps, endpoint: string, { bytes, json }: BoundedRequest): CallTokens {
  const { limit, answers } = longestAnswers(deps, endpoint, json)
  return { prompt: Math.ceil(bytes.length / BYTES_PER_TOKEN), answer: limit * answers }
}

/**
 * Worst-case cost of a call by a key with limits.
 *
 * @throws GazewayError `validation_failed` or `field_not_allowed`
 */
function boundOfHeld(
  deps: RequestBillDeps,
  { path, request }: BilledRequest,
  choices: readonly ModelChoice[],
  parts: PricedParts,
): CallBound {
  requireCounts(request.json)
  requireRecording(endpointOf(path), request.json)
  return boundOf(deps, endpointOf(path), request, [...choices, ...parts.instead], parts)
}

/** Tells whether requests to a path are of Google's API. */
const isOfGoogle = (path: string): boolean => [GENERATE_CONTENT, EMBED_CONTENT].includes(endpointOf(path))

const endpointOf = (path: string): string => path.slice('/v1'.length)
