import type { CallContext } from '../../calls/call-record.ts'
import { GazewayError } from '../../errors.ts'
import { type Identity, identityWithoutKey, isHeld } from '../../identity/identity.ts'
import { limitsAt } from '../api/answer-limit.ts'
import type { Cost } from '../api/verbatim-paths.ts'
import type { CallRates } from '../rates/call-rates.ts'
import type { CountedCall } from '../rates/rate-share.ts'
import type { CallTokens } from '../rates/shared-window.ts'
import { addField, type ClientRequest, changedField } from '../relay/request-body.ts'
import type { ModelChoice } from '../upstreams/provider.ts'
import { type Bill, countedBill, NO_BILL, type PaidContext, paidBill } from './bill.ts'
import { requireCounts, requireExactNames } from './billed-fields.ts'
import { NO_PARTS, type PricedParts, pricedParts } from './priced-parts.ts'
import type { NoteRefusal } from './refusals.ts'
import { requireModels, requireNamed, requirePrices } from './require-allowed.ts'
import { type Reserved, reserveFor } from './reserve.ts'
import { type BillDeps, reservedBill } from './reserved-bill.ts'
import {
  type BoundDeps,
  type BoundedRequest,
  boundOf,
  type CallBound,
  isOpen,
  longestAnswers,
  UNBOUNDED,
} from './worst-case.ts'

/** Approximate bytes per token of ordinary text. */
const BYTES_PER_TOKEN = 4

/** The fields of a model request that Gazeway reads. All other fields are passed on. */
export interface ModelBody {
  model?: string | null | undefined
  stream?: boolean | null | undefined
  [field: string]: unknown
}

/** A model request from any caller. */
export interface ModelRequest {
  /** Path below `/v1`, as records name it. */
  endpoint: string
  request: ClientRequest<ModelBody>
  /** Maximum number of retries of transient errors. Clients over HTTP retry by themselves. */
  retries: number
  /** True when the caller reads only text. An answer without text, such as a function call, does not count then. */
  needsText: boolean
  /** Name, in records, of the upstream that stores what the request continues. Only it can answer. Null for any. */
  keeper?: string | null
  /** Properties of a request that is passed on verbatim. Null for one to a model endpoint. */
  verbatim?: Verbatim | null
}

/** A request that is passed on as it is: body and answer untouched, with or without a model. */
export interface Verbatim {
  /** Null for a request that is neither limited nor billed. */
  cost: Cost | null
  /** Content type of a body that is not JSON. Null for JSON or no body. */
  formType: string | null
  /** Service that is called, for the audit trail, if not the model provider. */
  service?: string
  /** False for a request that is no call, such as one for a list of models. */
  isRecorded?: boolean
}

/** Caller of a call, with its request. */
export interface CallerContext extends PaidContext {
  /** Request id for errors. Null when they carry none. */
  requestId: string | null
  /** Headers of the client's request that an upstream of the same protocol receives too. */
  headers?: Readonly<Record<string, string>> | undefined
}

/** Models that may answer a call. */
export interface Answering {
  /** The requested model at each candidate, as far as known, and the fallback role's. */
  choices: readonly ModelChoice[]
  /** Finds the models that answer for names which their upstreams do not know. Null when there are none. */
  standIns: ((context: CallContext) => Promise<readonly ModelChoice[]>) | null
  /** Fetches their token limits. Null when they are known, or nobody lists them. */
  limits(context: CallContext): Promise<unknown> | null
}

/** An admitted call, with its caller and its bill. */
export interface Admission extends ModelRequest {
  verbatim: Verbatim | null
  context: CallerContext
  bill: Bill
}

/** Dependencies of admission. */
export interface AdmitDeps extends BillDeps, BoundDeps {
  rates: CallRates
  noteRefusal: NoteRefusal
}

/**
 * Second step of a call: decides whether it is allowed, and reserves its worst-case cost. Sends nothing.
 *
 * @param isGone tells whether nobody waits for the call any more
 * @returns a promise only when the store is asked
 * @throws GazewayError the refusal, recorded in the audit trail, as `billFor`
 */
export function admit(
  deps: AdmitDeps,
  asked: ModelRequest,
  { choices, standIns, limits }: Answering,
  context: CallerContext,
  isGone: () => boolean,
): Admission | Promise<Admission> {
  const { endpoint, request, verbatim = null } = asked
  const path = `/v1${endpoint}`
  if (verbatim?.cost === null) return limited(asked, context, NO_BILL)
  if (verbatim?.cost === 'nothing' || verbatim?.cost === 'unbounded')
    return billUnpriced(deps, { path, cost: verbatim.cost, models: choices }, context).then((bill) =>
      limited(asked, context, bill),
    )
  const billed = {
    path,
    request: verbatim === null ? request : measured(request, verbatim),
    models: () => choices,
    limits: () => limits(context),
    isGone,
    ...(verbatim?.service !== undefined && { upstream: verbatim.service }),
    ...(standIns !== null && { standIns: () => standIns(context) }),
  }
  const bill = billFor(deps, billed, context)
  if (bill instanceof Promise) return bill.then((made) => limited(asked, context, made))
  return limited(asked, context, bill)
}

/** Lower bound for a recording: Opus at 6 kbit/s has 750 bytes per second, and a second is 10 tokens. */
const BYTES_PER_RECORDED_TOKEN = 16

/** Shortens a form, which is media, to as many bytes as it may have tokens. */
function measured(request: BoundedRequest, { formType }: Verbatim): BoundedRequest {
  if (formType === null) return request
  return { ...request, bytes: request.bytes.subarray(0, Math.ceil(request.bytes.length / BYTES_PER_RECORDED_TOKEN)) }
}

/** Limits the cost of a request to its reservation: one without a token limit gets one. */
function limited(asked: ModelRequest, context: CallerContext, bill: Bill): Admission | Promise<Admission> {
  const { endpoint, retries, needsText, keeper, verbatim } = asked
  const of = (request: ClientRequest<ModelBody>): Admission => ({
    endpoint,
    request,
    retries,
    needsText,
    keeper: keeper ?? null,
    verbatim: verbatim ?? null,
    context,
    bill,
  })
  const [name] = limitsAt(endpoint)
  const withLimit = (request: ClientRequest<ModelBody>) => {
    if (bill.answerLimit === null || name === undefined) return of(request)
    const limited = addField(request, name, bill.answerLimit)
    return limited instanceof Promise ? limited.then(of) : of(limited)
  }
  if (!bill.isRewritten) return withLimit(asked.request)
  const request = changedField(asked.request, 'model', asked.request.json.model)
  return request instanceof Promise ? request.then(withLimit) : withLimit(request)
}

/** A request to bill. */
export interface BilledRequest {
  /** Endpoint, for the audit trail. */
  path: string
  request: BoundedRequest
  /** The models that may answer. */
  models(): readonly ModelChoice[]
  /** Finds further models that may answer, by asking upstreams for their lists. They count for the cost alone. */
  standIns?(): Promise<readonly ModelChoice[]>
  /** Fetches the token limits of the models. Null when they are known. */
  limits(): Promise<unknown> | null
  /** Service that is called, if not the model provider. */
  upstream?: string
  /** Tells whether nobody waits for the reply any more. */
  isGone(): boolean
}

/**
 * Creates the bill of a request: checks the permissions of the key and reserves the worst-case cost.
 *
 * @throws GazewayError `model_not_allowed`, `model_not_priced`, `limit_not_kept`, `too_many_requests`,
 *   `insufficient_credit`, `debt_open` or `budget_reached`
 */
function billFor(deps: AdmitDeps, asked: BilledRequest, context: PaidContext): Bill | Promise<Bill> {
  const { callerId, isPaid = false } = context
  const paid = isPaid ? paidBill(context) : null
  const refuse = (error: unknown): never =>
    refuseNoted(deps, { ...asked, requested: asked.models()[0]?.requested }, context, error)
  try {
    if (callerId === null) {
      requirePrices(deps.prices, asked.models(), false)
      return NO_BILL
    }
    const known = deps.identity(callerId)
    const key = known instanceof Promise ? null : known
    if (known instanceof Promise)
      return known.then((found) => billOf(deps, asked, { callerId, paid, key: found })).catch(refuse)
    const bill = billOf(deps, asked, { callerId, paid, key })
    return bill instanceof Promise ? bill.catch(refuse) : bill
  } catch (error) {
    return refuse(error)
  }
}

/**
 * Records a refusal in the audit trail.
 *
 * @throws the error
 */
function refuseNoted(
  deps: AdmitDeps,
  { path, upstream, requested }: Pick<BilledRequest, 'path' | 'upstream'> & { requested: string | undefined },
  { surface, callerId, address = null }: PaidContext,
  error: unknown,
): never {
  if (error instanceof GazewayError && !error.isNoted && error.code !== 'validation_failed')
    // The record of a request that leaves the model to the upstream has none.
    void deps.noteRefusal({ surface, callerId, address, path, upstream, requestedModel: requested || null, error })
  throw error
}

/**
 * Creates the bill of a request that costs nothing itself: the key must be allowed to use the model, and its rate limits
 * apply. A request of unknown cost, such as a batch of calls made later, needs a key without limits on money and models.
 *
 * @throws GazewayError `model_not_allowed`, `forbidden_path` or `too_many_requests`
 */
async function billUnpriced(
  deps: AdmitDeps,
  { path, cost, models }: { path: string; cost: Cost; models: readonly ModelChoice[] },
  context: PaidContext,
): Promise<Bill> {
  const { callerId } = context
  const key = callerId === null ? null : await deps.identity(callerId)
  if (key === null) return NO_BILL
  try {
    const refusal = cost === 'unbounded' ? unboundedRefusal(key, path) : null
    if (refusal) throw refusal
    if (models.length > 0) requireModels(key, models)
    return countedBill(NO_BILL, await deps.rates.begin(key, () => ({ prompt: 0, answer: 0 })))
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

function billOf(
  deps: AdmitDeps,
  asked: BilledRequest,
  { callerId, paid, key }: { callerId: string; paid: Bill | null; key: Identity | null },
): Bill | Promise<Bill> {
  if (key === null && paid !== null) return paid
  const caller = key ?? identityWithoutKey({ id: callerId, name: callerId, scopes: new Set(), wallet: null })
  const choices = asked.models()
  const { json } = asked.request
  const isLimited = isHeld(caller) || caller.models !== null
  if (isLimited) requireExactNames(json)
  requireModels(caller, choices)
  const parts = isLimited ? pricedParts(choices, json) : NO_PARTS
  const named = [...parts.instead, ...parts.beside.map(({ model }) => model)]
  requireNamed(caller, choices, named)
  // The list of a provider may state prices that are not known yet.
  const limits = isHeld(caller) ? asked.limits() : null
  if (limits === null) requirePrices(deps.prices, [...choices, ...named], isHeld(caller))
  if (!isHeld(caller)) return billWithin(deps, asked, { caller, paid, bound: UNBOUNDED, parts })
  const within = (all: readonly ModelChoice[]) =>
    billWithin(deps, asked, { caller, paid, bound: boundOfHeld(deps, asked, all, parts), parts })
  const kept = caller.billing === 'recorded' ? undefined : deps.absorbed.require(caller.id, choices)
  const standIns = asked.standIns?.()
  if (standIns === undefined && limits === null && kept === undefined) return within(choices)
  return Promise.all([standIns ?? [], limits, kept]).then(([found]) => {
    requirePrices(deps.prices, [...choices, ...named, ...found], true)
    return within([...choices, ...found])
  })
}

/** Creates the bill of a call whose cost has an upper bound. */
function billWithin(
  deps: AdmitDeps,
  { path, request, isGone }: BilledRequest,
  { caller, paid, bound, parts }: { caller: Identity; paid: Bill | null; bound: CallBound; parts: PricedParts },
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
  // Money first: a call that is refused for it takes nothing of the rate limits.
  function begin(reserved: Reserved): Bill | Promise<Bill> {
    const bill = (counted: CountedCall) =>
      reservedBill(deps, {
        key: caller,
        bound,
        reserved,
        counted,
        isOpenEnded,
        isDetached,
        isRewritten: parts.isRouted,
      })
    const counted = deps.rates.begin(caller, tokens)
    if (!(counted instanceof Promise)) return bill(counted)
    return counted.then(bill, (error: unknown) => {
      reserved.reservation.end()
      throw error
    })
  }
  const reserved = reserveFor(deps, caller, bound, isGone)
  return reserved instanceof Promise ? reserved.then(begin) : begin(reserved)
}

/** Tokens that the rate limits count for a call until its usage is known. */
function tokensOf(deps: AdmitDeps, endpoint: string, { bytes, json }: BoundedRequest): CallTokens {
  const { limit, answers } = longestAnswers(deps, endpoint, json)
  return { prompt: Math.ceil(bytes.length / BYTES_PER_TOKEN), answer: limit * answers }
}

/**
 * Worst-case cost of a call by a key with limits.
 *
 * @throws GazewayError `validation_failed`
 */
function boundOfHeld(
  deps: AdmitDeps,
  { path, request }: BilledRequest,
  choices: readonly ModelChoice[],
  parts: PricedParts,
): CallBound {
  requireCounts(request.json)
  return boundOf(deps, endpointOf(path), request, [...choices, ...parts.instead], parts)
}

const endpointOf = (path: string): string => path.slice('/v1'.length)
