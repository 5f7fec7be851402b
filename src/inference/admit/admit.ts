import type { CallContext } from '../../calls/call-record.ts'
import { limitsAt } from '../api/answer-limit.ts'
import type { Cost } from '../api/verbatim-paths.ts'
import { addField, type ClientRequest, rewrittenRequest } from '../relay/request-body.ts'
import type { ModelChoice } from '../upstreams/provider.ts'
import { type Bill, NO_BILL, type PaidContext } from './bill.ts'
import { billFor, billUnpriced, type RequestBillDeps } from './bill-request.ts'
import type { BoundedRequest } from './worst-case.ts'

export { unboundedRefusal } from './bill-request.ts'

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
  /** True when it is to lose what an upstream cannot express, instead of being refused. */
  isLenient?: boolean | undefined
  /** True when Gazeway is to set no marks and keys for the caches of providers. */
  isCacheOff?: boolean | undefined
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
  /** Time that it waited for its limits, its budget or money, in milliseconds. */
  waitedMs: number
}

/**
 * Second step of a call: decides whether it is allowed, and reserves its worst-case cost. Sends nothing.
 *
 * @param isGone tells whether nobody waits for the call any more
 * @returns a promise only when the store is asked
 * @throws GazewayError the refusal, recorded in the audit trail, as `billFor`; `invalid_json` for a request that is
 *   nested too deeply to be written again. What was reserved is free again then
 */
export function admit(
  deps: RequestBillDeps,
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
    upstream: verbatim?.service,
    standIns: standIns === null ? undefined : () => standIns(context),
  }
  return billFor(deps, billed, context, (bill) => limited(asked, context, bill))
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
    waitedMs: 0,
  })
  const [name] = limitsAt(endpoint)
  const withLimit = (request: ClientRequest<ModelBody>) => {
    if (bill.answerLimit === null || name === undefined) return of(request)
    return of(addField(request, name, bill.answerLimit))
  }
  if (!bill.isRewritten) return withLimit(asked.request)
  const request = rewrittenRequest(asked.request)
  return request instanceof Promise ? request.then(withLimit) : withLimit(request)
}
