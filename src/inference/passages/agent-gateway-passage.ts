import { GazewayError } from '../../errors.ts'
import { parseJson } from '../../text/json.ts'
import { fieldsOrNone } from '../../text/lenient-reader.ts'
import type { ModelBody } from '../admit/admit.ts'
import { billedFields } from '../admit/billed-fields.ts'
import { ENDPOINTS } from '../api/endpoints.ts'
import { isUnfinished } from '../api/finish-reason.ts'
import { askForUsage, wantsUsage } from '../api/usage-request.ts'
import { madeByResponse, madeByStream } from '../observe/made-objects.ts'
import { nextNumber } from '../observe/next-sequence-number.ts'
import { NOTHING, type Observed, observedError, observedStream, UNSEEN, usageOf } from '../observe/observe.ts'
import type { SseTap } from '../observe/sse-tap.ts'
import type { Headers, StreamReply, WholeReply } from '../relay/exchange.ts'
import { type ClientRequest, requestBody } from '../relay/request-body.ts'
import { errorEvent } from './error-event.ts'
import { type Answered, answered, type Passage, type ReplyContext } from './passage.ts'
import { endError, relayStream, reportedError } from './relay-stream.ts'

const CHAT = '/chat/completions'

/** A request to a model behind an agent gateway, and how its replies are passed on. */
export interface AgentGatewayRequest {
  /** Path below `/v1`, with its query. */
  path: string
  /** Endpoint below `/v1`, for records and receipts. */
  endpoint: string
  request: ClientRequest<ModelBody>
  /** Request headers to send, except `content-length`. */
  headers: Record<string, string>
  /** Selects the reply headers to pass on, beside the call's own. */
  replyHeaders(headers: Headers): Record<string, string>
  /** Maps a reply that the client must not see to an error. Null for all others. */
  refusal(reply: WholeReply): GazewayError | null
}

/**
 * Passes a request to an agent gateway and its reply back, both as they are, also errors. Only what determines the bill
 * is rewritten: fields that occur twice, the token limit, and the request for usage.
 */
export function agentGatewayPassage(asked: AgentGatewayRequest): Passage {
  const { path, endpoint, request, headers } = asked
  const asksForUsage = endpoint === CHAT && request.json.stream === true
  return {
    convert: (body) => body,
    async write({ request }) {
      const fields = { ...billedFields(request.json), ...(asksForUsage && askForUsage(request.json)) }
      return { method: 'POST', target: path, body: await requestBody(request, () => fields), headers }
    },
    isReformed: false,
    passesErrors: true,
    dropsUsage: () => asksForUsage && !wantsUsage(request.json),
    passWhole: (context, reply) => passWhole(asked, context, reply),
    passStream: (context, reply, tap) => passStream(asked, context, reply, tap),
  }
}

function passWhole(asked: AgentGatewayRequest, context: ReplyContext, reply: WholeReply): Answered {
  const { status, body } = reply
  const refused = asked.refusal(reply)
  if (refused) throw refused
  context.receiver.whole(status, headersOf(asked, context, reply), body)
  if (status >= 300)
    return answered(status, NOTHING, new GazewayError('upstream_error', `The agent gateway answered ${status}.`))
  const observed = observedIn(asked, body)
  if (isUnseen(asked, observed)) context.bill.cutOff()
  return answered(status, observed)
}

async function passStream(
  asked: AgentGatewayRequest,
  context: ReplyContext,
  reply: StreamReply,
  tap: SseTap,
): Promise<Answered> {
  const { receiver, requestId, bill } = context
  const { endpoint } = asked
  const { status } = reply
  /** The last numbered events of a Response. */
  let numbered: Buffer | null = null
  const made = madeByStream(asked.request.json)
  function filter(events: Buffer): Buffer {
    made.read(events)
    if (events.includes('"sequence_number"')) numbered = events
    return events
  }
  receiver.head(status, headersOf(asked, context, reply))
  const end = await relayStream(context, reply, tap, filter)
  const broken = endError(end, context, tap.ending().done, true)
  const isGone = end.kind === 'gone' && broken !== null
  const seen = { made: made.ids(), ...observedStream(tap) }
  // The client knows the id by now, under which the answer may be available later.
  const isFetched = isGone && endpoint !== CHAT && seen.usage === null && tap.generated().text === ''
  const observed = isFetched ? { ...seen, usage: UNSEEN, isOutdated: undefined } : seen
  if (!isGone) receiver.end(broken === null ? undefined : errorEvent(endpoint, broken, requestId, nextNumber(numbered)))
  const error = broken ?? reportedError(tap, context)
  if (isUnseen(asked, { ...observed, usage: usageOf(observed, error) })) bill.cutOff()
  return answered(status, observed, error)
}

/** Endpoints whose answer is text, so that it can be counted. */
const COUNTED: ReadonlySet<string> = new Set(ENDPOINTS)

/** Tells whether a request caused costs that its reply does not show, such as an answer that is fetched later. */
const isUnseen = ({ endpoint }: AgentGatewayRequest, { usage, generated }: Observed): boolean =>
  usage === UNSEEN || (usage === null && (generated === null || !COUNTED.has(endpoint)))

function headersOf(
  asked: AgentGatewayRequest,
  { callId, bill }: ReplyContext,
  { headers, kind }: WholeReply | StreamReply,
): Record<string, string> {
  const passed = asked.replyHeaders(headers)
  for (const name of Object.keys(passed)) if (name.startsWith('x-gazeway-') || NOT_PASSED.has(name)) delete passed[name]
  if (kind === 'stream') for (const name of OWN_TO_STREAMS) delete passed[name]
  return { ...passed, ...bill.headers, 'x-gazeway-call-id': callId }
}

/** Headers that are set again, because the body is decoded on the way. */
const NOT_PASSED = new Set(['content-length', 'content-encoding', 'x-request-id'])
const OWN_TO_STREAMS = ['cache-control', 'x-accel-buffering']

/** Usage of a whole reply, or the text to estimate it from. */
function observedIn({ endpoint, request }: AgentGatewayRequest, body: Buffer): Observed {
  const value = parseJson(body.toString('utf8'))
  const { choices, output, content, status } = fieldsOrNone(value)
  const generated = isUnfinished(status) ? undefined : (choices ?? output ?? content)
  return {
    ...observedError(value),
    generated: generated === undefined ? null : () => ({ text: JSON.stringify(generated), factor: 1 }),
    answer: value,
    made: endpoint === '/responses' ? madeByResponse(value, request.json) : [],
  }
}
