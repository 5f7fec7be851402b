import type { CallContext } from '../../calls/call-record.ts'
import { GazewayError } from '../../errors.ts'
import { readUsage, type Usage } from '../../providers/token-usage.ts'
import { parseJson } from '../../text/json.ts'
import { record } from '../../text/loose.ts'
import { billFor, type CallerContext, type ModelBody } from '../admit/admit.ts'
import type { Bill } from '../admit/bill.ts'
import { billedFields } from '../admit/worst-case.ts'
import { CHAT_LIMIT, RESPONSES_LIMIT } from '../api/answer-limit.ts'
import { isUnfinished } from '../api/finish-reason.ts'
import { askForUsage, wantsUsage } from '../api/usage-request.ts'
import type { CallDeps } from '../call.ts'
import { madeByResponse, madeByStream } from '../observe/made-objects.ts'
import { NOTHING, type Observed, observedStream, usageOf } from '../observe/observe.ts'
import { createSseTap } from '../observe/sse-tap.ts'
import { errorEvent } from '../passages/error-event.ts'
import type { Send, StreamReply, WholeReply } from '../relay/exchange.ts'
import { pump, type Receiver } from '../relay/receiver.ts'
import { type ClientRequest, requestBody } from '../relay/request-body.ts'
import { endingOf, openReply } from '../relay/send.ts'
import { type BilledReceiver, billedReceiver } from '../settle/billed-receiver.ts'
import { type BegunCall, beginCall } from '../settle/settle.ts'
import { clientGone, streamFailure } from '../upstreams/failure.ts'
import type { ModelChoice, Provider } from '../upstreams/provider.ts'

const CHAT = '/chat/completions'
const RESPONSES = '/responses'

/** A request to a model behind another service: the agent gateway. */
export interface PassedOn {
  /** The service. Its base URL ends with `/v1`. */
  service: Provider
  /** Path below `/v1`, with its query. */
  path: string
  /** Endpoint below `/v1`, for records and receipts. */
  endpoint: string
  request: ClientRequest<ModelBody>
  /** Request headers to send, except `content-length`. */
  headers: Record<string, string>
  send: Send
  /** Selects the reply headers to pass on, beside the call's own. */
  replyHeaders(headers: WholeReply['headers']): Record<string, string>
  /** Maps a missing reply to an error. */
  failure(error: unknown): GazewayError
  /** Maps a reply that the client must not see to an error. Null for all others. */
  refusal(reply: WholeReply): GazewayError | null
}

/**
 * Forwards a model request to another service, billed and recorded like every model call. Permissions are checked and
 * the cost is reserved before anything is sent. A charged answer is complete only once the charge is durable. Bytes and
 * status are unchanged.
 *
 * @returns at the end of the reply: the error that the client received in it
 * @throws GazewayError as `billFor`, and when no reply came, before its first byte
 */
export type PassOn = (asked: PassedOn, receiver: Receiver, context: CallerContext) => Promise<Error | null>

/** Result of a reply. */
interface Passed {
  httpStatus: number
  error: Error | null
  observed: Observed
  /** True when the client received part of an answer. */
  isHad: boolean
}

/** Creates the forwarding, under the bills of the callers. */
export function createPassOn(deps: CallDeps): PassOn {
  return async (asked, receiver, context) => {
    const { service, endpoint, request } = asked
    const model = modelIn(asked, deps.routing.upstreams[0].provider)
    const path = `/v1${endpoint}`
    const billing = { path, request, models: () => [model], upstream: service.name }
    const bill = await billFor({ ...deps.billing, ...deps }, billing, context)
    const started = performance.now()
    const stream = request.json.stream === true
    const held = billedReceiver(receiver, bill, {
      errorEvent: errorEvents(asked, context),
      countTokens: deps.countTokens,
    })
    try {
      const body = await bodyOf(asked, bill)
      const invocation = {
        provider: service,
        path: endpoint,
        model,
        stream,
        request: request.json,
        bill,
        isRecorded: true,
      }
      const call = beginCall(deps, invocation, context)
      const passed = await pass(asked, { held, call, body, context, limits: bill.headers })
      const { httpStatus, observed, isHad } = passed
      const error = (await held.paid()) ?? passed.error
      if (isHad && bill.isBounded && isUnseen(asked, observed)) bill.cutOff()
      const { callId, usage } = await call.settle({ httpStatus, error, ...observed, isHad })
      const latencyMs = Math.round(performance.now() - started)
      const billed = { callId, model: model.requested, path, usage, latencyMs }
      const charged = await bill.settle(billed).catch((fault) => {
        if (!held.fail(fault)) throw fault
        return null
      })
      held.finish(callId, charged)
      return error
    } finally {
      bill.end()
    }
  }
}

/** Tells whether a request caused costs that its reply does not show, such as an answer that is fetched later. */
const isUnseen = ({ endpoint }: PassedOn, { usage, generated }: Observed): boolean =>
  usage === UNSEEN || (usage === null && (generated === null || !LIMITS.has(endpoint)))

/** Usage of an answer that was not seen. */
const UNSEEN: Usage = Object.freeze({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0, estimated: true })

/** Model in the request, by its own name: aliases and prices are the upstream's. */
function modelIn({ request }: PassedOn, provider: Provider): ModelChoice {
  const { model } = request.json
  if (typeof model === 'string' && model !== '') return { requested: model, upstream: model, catalogue: {} }
  if ((model ?? '') === '') return { ...provider.resolve(undefined, 'chat'), catalogue: {} }
  throw new GazewayError('validation_failed', 'model: missing; must be the name of a model.', { param: 'model' })
}

const errorEvents =
  ({ endpoint }: PassedOn, { requestId }: CallerContext) =>
  (error: GazewayError, sequenceNumber: number): Buffer | string =>
    errorEvent(endpoint, error, requestId, sequenceNumber)

/**
 * The client's bytes, when the fields that determine the bill occur once in them. Otherwise rewritten, with the token
 * limit if one is needed, and with usage requested.
 */
function bodyOf({ endpoint, request }: PassedOn, { answerLimit }: Bill): string | Buffer | Promise<string> {
  const { json } = request
  const asked = endpoint === CHAT && json.stream === true ? askForUsage(json) : {}
  const limit = LIMITS.get(endpoint)
  const limited = answerLimit === null || limit === undefined ? {} : { [limit]: answerLimit }
  const fields = { ...billedFields(json), ...asked, ...limited }
  return requestBody(request, fields)
}

const LIMITS = new Map([
  [CHAT, CHAT_LIMIT],
  [RESPONSES, RESPONSES_LIMIT],
  ['/messages', CHAT_LIMIT],
])

interface Passing {
  held: BilledReceiver
  call: BegunCall
  body: string | Buffer
  context: CallContext & { requestId: string | null }
  /** Headers about the limits of the caller. */
  limits: Bill['headers']
}

/** Sends the request and passes the reply on. A request without an answer is recorded too. */
async function pass(asked: PassedOn, { body, ...passing }: Passing): Promise<Passed> {
  const { service, path, headers, send, request } = asked
  const { held, call } = passing
  const sent = { method: 'POST', path, headers, body }
  const stream = request.json.stream === true
  let status: number | null = null
  try {
    const reply = await openReply(send, sent, { stream }, held, service, {
      connected() {},
      answered(code) {
        status = code
      },
    })
    return reply.kind === 'whole' ? passWhole(asked, passing, reply) : await passStream(asked, passing, reply)
  } catch (cause) {
    const error = held.isGone() ? clientGone(endingOf(held)) : asked.failure(cause)
    error.callId = call.callId
    await call.settle({ httpStatus: status, error, ...NOTHING, isHad: false })
    throw error
  }
}

function passWhole(asked: PassedOn, passing: Omit<Passing, 'body'>, reply: WholeReply): Passed {
  const { status, body } = reply
  const refused = asked.refusal(reply)
  if (refused) throw refused
  passing.held.whole(status, headersOf(asked, passing, reply), body)
  if (status >= 300)
    return {
      httpStatus: status,
      error: new Error(`The agent gateway answered ${status}.`),
      observed: NOTHING,
      isHad: false,
    }
  return { httpStatus: status, error: null, observed: observedIn(asked, body), isHad: true }
}

async function passStream(asked: PassedOn, passing: Omit<Passing, 'body'>, reply: StreamReply): Promise<Passed> {
  const { held, call, context } = passing
  const { service, endpoint, request } = asked
  const { status } = reply
  const dropUsageChunk = endpoint === CHAT && request.json.stream === true && !wantsUsage(request.json)
  const tap = createSseTap({ dropUsageChunk, secrets: service.secrets })
  held.head(status, headersOf(asked, passing, reply))
  const stallMs = service.timeoutMs
  const made = madeByStream(request.json)
  const filter = (events: Buffer) => {
    made.read(events)
    return events
  }
  const end = await pump(reply, held, tap, { filter, onFirst: call.firstToken, stallMs })
  const observed = { ...observedStream(tap), made: made.ids() }
  const passed = (error: Error | null): Passed => ({
    httpStatus: status,
    error,
    observed: { ...observed, usage: usageOf(observed, error) },
    isHad: true,
  })
  const { done } = tap.ending()
  if (end.kind === 'gone' && !done) {
    const gone = passed(clientGone(endingOf(held)))
    // The client knows the id by now, under which the answer may be available later.
    const isFetched = endpoint !== CHAT && observed.usage === null && tap.generated().text === ''
    return isFetched ? { ...gone, observed: { ...observed, usage: UNSEEN } } : gone
  }
  const broken = end.kind === 'broken' && !done ? streamFailure(end.error, service) : null
  held.end(broken === null ? undefined : errorEvents(asked, context)(broken, held.nextNumber()))
  return passed(broken ?? tap.failed())
}

function headersOf(
  asked: PassedOn,
  { call, limits }: Pick<Passing, 'call' | 'limits'>,
  { headers, kind }: WholeReply | StreamReply,
) {
  const passed = asked.replyHeaders(headers)
  for (const name of Object.keys(passed)) if (name.startsWith('x-gazeway-') || NOT_PASSED.has(name)) delete passed[name]
  if (kind === 'stream') for (const name of OWN_TO_STREAMS) delete passed[name]
  return { ...passed, ...limits, 'x-gazeway-call-id': call.callId }
}

/** Headers that are set again, because the body is decoded on the way. */
const NOT_PASSED = new Set(['content-length', 'content-encoding', 'x-request-id'])
const OWN_TO_STREAMS = ['cache-control', 'x-accel-buffering']

/** Usage of a whole reply, or the text to estimate it from. */
function observedIn({ endpoint, request }: PassedOn, body: Buffer): Observed {
  const value = parseJson(body.toString('utf8'))
  const { usage, service_tier, response, choices, output, content, status } = record(value)
  const reported: Usage | null = readUsage(usage ?? record(response).usage)
  const generated = isUnfinished(status) ? undefined : (choices ?? output ?? content)
  return {
    usage: reported,
    serviceTier: service_tier,
    generated: generated === undefined ? null : () => ({ text: JSON.stringify(generated), factor: 1 }),
    answer: value,
    made: endpoint === RESPONSES ? madeByResponse(value, request.json) : [],
  }
}
