import { readUsage } from '../../providers/token-usage.ts'
import { usageField } from '../../providers/usage-field.ts'
import { isObject, parseJson } from '../../text/json.ts'
import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import { gatherBytes } from '../../wire/gathered-bytes.ts'
import { splitEvents } from '../../wire/whole-sse-events.ts'
import type { Bill } from '../admit/bill.ts'
import { billedFields } from '../admit/billed-fields.ts'
import { choicesOf } from '../admit/requested-answers.ts'
import { ENDPOINTS } from '../api/endpoints.ts'
import { askForUsage, wantsUsage } from '../api/usage-request.ts'
import type { VerbatimPath } from '../api/verbatim-paths.ts'
import { eventData } from '../observe/event-data.ts'
import { madeByResponse } from '../observe/made-objects.ts'
import { NOTHING, type Observed, observedStream, UNSEEN } from '../observe/observe.ts'
import { type ReportedTerms, readTerms, secondsOf } from '../observe/reported-terms.ts'
import type { SseTap } from '../observe/sse-tap.ts'
import { streamedImages } from '../observe/streamed-images.ts'
import type { StreamReply, WholeReply } from '../relay/exchange.ts'
import { requestBody } from '../relay/request-body.ts'
import { CLIENT_GONE, tooLarge, WHOLE_LIMIT_BYTES } from '../relay/send.ts'
import { badReply, endedEarly, hideSecrets, streamFailure } from '../upstreams/failure.ts'
import type { Provider } from '../upstreams/provider.ts'
import { errorEvent } from './error-event.ts'
import { fromFirstOutput, holdBeginning } from './held-beginning.ts'
import { type Answered, answered, type Failed, failed, type Passage, type ReplyContext } from './passage.ts'
import { endError, relayStream, reportedError } from './relay-stream.ts'
import { withoutOurItems } from './response-passage.ts'
import { bodyText, passedHeaders, type Refusal, readRefusal } from './upstream-reply.ts'
import { splicedRequest, type Writing, type Written } from './write-request.ts'

const EVENT_STREAM = /^text\/event-stream\b/i
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i
/** Largest reply that is inspected. A larger one costs its whole reservation. */
const READ_LIMIT_BYTES = 16 * 1024 * 1024

/** A request that is passed on verbatim. */
export interface VerbatimRequest {
  route: VerbatimPath
  /** Path as sent, with its query. */
  target: string
  /** Content type of a body that is not JSON. Null for JSON or no body. */
  formType: string | null
  /** Selects the objects of a list that the caller may see, by their ids. Null when it may see the whole reply. */
  visible: ((ids: readonly string[]) => Promise<ReadonlySet<string>>) | null
  /** Length at which a reply is cut. Without it, one above the limit of replies fails. */
  cutAtBytes?: number
  /** Called with each reply of an upstream. */
  onReply?(reply: WholeReply | StreamReply): void
}

/**
 * Passes a request and its reply on as they are, and reads usage and ids on the way. Only what determines the bill is
 * rewritten: the model's id at the upstream, the token limit, and the request for usage.
 */
export const verbatimPassage = (asked: VerbatimRequest): Passage => ({
  convert: asked.route.path === COMPACT ? withoutOurItems : (body) => body,
  write: (writing) => writeVerbatim(asked, writing),
  isReformed: false,
  dropsUsage: (context) => isLegacy(asked) && !wantsUsage(context.asked),
  passWhole: (context, reply) => passWhole(asked, context, reply),
  refusal: (reply, context) => refusal(asked, reply, context),
  passStream: (context, reply, tap) => passStream(asked, context, reply, tap),
})

/** Path of a Responses conversation that is made shorter: the one verbatim path whose requests bring reasoning back. */
const COMPACT = '/responses/compact'

/** Tells whether a request is a legacy completion. */
const isLegacy = ({ route }: VerbatimRequest): boolean => route.path === '/completions'

/**
 * The client's bytes, when the fields that determine the bill occur once in them. Otherwise rewritten. A form is
 * rewritten only for another model id.
 */
async function writeVerbatim(asked: VerbatimRequest, writing: Writing): Promise<Written> {
  const { request, fieldsOf, bill, headers, isChanged } = writing
  const { route, target, formType, cutAtBytes } = asked
  const { method } = route
  const { json, bytes } = request
  const fields = fieldsOf(json)
  if (route.body === 'none') return { method, target, body: null, headers, cutAtBytes }
  if (formType !== null) {
    const isSame = fields.model === undefined || fields.model === json.model
    const form = isSame ? { body: bytes, type: formType } : await formWithModel(bytes, formType, String(fields.model))
    return { method, target, body: form.body, headers: { ...headers, 'content-type': form.type }, cutAtBytes }
  }
  if (isChanged) return { ...(await splicedRequest(writing)), target }
  const changes = {
    ...(bill.isBounded && billedFields(json)),
    ...fields,
    ...(isLegacy(asked) && json.stream === true && askForUsage(json)),
  }
  return { method, target, body: await requestBody(request, () => changes), headers, cutAtBytes }
}

/** Replaces the model in a form. Other fields and files stay unchanged. */
async function formWithModel(bytes: Buffer, type: string, model: string): Promise<{ body: Buffer; type: string }> {
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData()
  form.set('model', model)
  const changed = new Response(form)
  return { body: Buffer.from(await changed.arrayBuffer()), type: changed.headers.get('content-type') as string }
}

/** The upstream's own error reply, with the gateway's key removed. */
function refusal(asked: VerbatimRequest, reply: WholeReply, { provider, requestId }: ReplyContext): Refusal {
  asked.onReply?.(reply)
  const { error } = readRefusal(reply, provider, requestId)
  return { error, body: hideSecrets(bodyText(reply), provider.secrets), headers: announcedHeaders(reply) }
}

async function passWhole(asked: VerbatimRequest, context: ReplyContext, reply: WholeReply): Promise<Answered> {
  const { receiver, provider, bill } = context
  asked.onReply?.(reply)
  const { status, body } = reply
  const headers = passedHeaders(announcedHeaders(reply), context)
  if (status >= 300) {
    receiver.whole(status, headers, hideSecrets(bodyText(reply), provider.secrets))
    return answered(status, NOTHING, badReply(provider, `it redirects (${status})`))
  }
  const isRead = JSON_TYPE.test(String(reply.announced)) && body.length <= READ_LIMIT_BYTES
  const value = isRead ? parseJson(bodyText(reply)) : undefined
  const visible = asked.visible === null ? null : await visibleIn(reply, provider, asked.visible)
  receiver.whole(status, headers, visible === null ? body : JSON.stringify(visible))
  const observed = observedIn(asked, value)
  if (isUnseen(asked, bill, observed)) bill.cutOff()
  return answered(status, observed)
}

/** Passes a stream on. While another upstream could answer, it begins with the first output and may fail before. */
async function passStream(
  asked: VerbatimRequest,
  context: ReplyContext,
  reply: StreamReply,
  tap: SseTap,
): Promise<Answered | Failed> {
  const { receiver, provider, requestId, bill } = context
  // A file may start like an event stream.
  if (!EVENT_STREAM.test(String(reply.announced)))
    return passWhole(asked, context, { ...reply, kind: 'whole', body: await gathered(reply, provider) })
  asked.onReply?.(reply)
  const { status } = reply
  const held = holdBeginning(context, status, passedHeaders(announcedHeaders(reply), context))
  if (receiver.isSole !== false) held.release()
  const fromOutput = fromFirstOutput(held, tap, isLegacy(asked) ? isText : isEvent)
  const images = asked.route.path === IMAGES ? streamedImages() : null
  let size = 0
  let isBegun = false
  const filter = (events: Buffer) => {
    size += events.length
    images?.read(events)
    isBegun ||= tap.failed() === null || splitEvents(events).length > 1
    return fromOutput(events)
  }
  const isOver = () => size > (asked.cutAtBytes ?? Number.POSITIVE_INFINITY)
  const end = await relayStream(context, reply, tap, filter, isOver)
  const { done } = tap.ending()
  const failure = reportedError(tap, context)
  const broken = endError(end, context, done, true)
  // Of several images some may be missing: refused one by one, which only the upstream's own end tells, or not yet sent.
  const isEnded = end.kind === 'complete' && !isOver()
  const ofImages = images?.observed(failure !== null && isEnded ? 1 : choicesOf(context.asked)) ?? null
  const observed = ofImages ?? observedStream(tap)
  if (held.isHeld() && end.kind !== 'gone') {
    const why = failure ?? broken ?? (done ? null : endedEarly(provider))
    if (why !== null) return failed(why, status, observed)
    // An empty answer.
    receiver.write(held.release())
  }
  // Providers do not bill what they refuse, such as a prompt against their rules.
  const isRefused = failure !== null && !isBegun
  const hidesImages = bill.isBounded && ofImages === null && streamsImages(asked, context)
  const isCut = !isRefused && (isUnseen(asked, bill, observed) || hidesImages)
  if (isCut) bill.cutOff()
  // Images without a usage may have a price by the piece.
  const isOfPieces = ofImages !== null && (broken ?? failure) === null
  const passed = isCut && !isOfPieces ? { ...observed, usage: UNSEEN, isOutdated: undefined } : observed
  if (end.kind !== 'gone' || done)
    receiver.end(broken === null ? undefined : errorEvent(asked.route.path, broken, requestId))
  return answered(status, passed, broken ?? failure)
}

const isEvent = (event: Buffer): boolean => eventData(event) !== null

/** Tells whether an event of a legacy completion has a part of the answer, or its end. */
const isText = (event: Buffer): boolean =>
  objectsOrNone(eventData(event)?.choices).some(({ text, finish_reason }) => Boolean(text) || Boolean(finish_reason))

/** Endpoints whose answer is text, so that it can be counted. */
const COUNTED: ReadonlySet<string> = new Set([...ENDPOINTS, '/completions'])

/** Tells whether an answer's cost is not in its reply. It then costs its whole reservation. */
const isUnseen = (asked: VerbatimRequest, bill: Bill, { usage }: Observed): boolean =>
  bill.isBounded && asked.route.cost === 'answer' && !COUNTED.has(asked.route.path) && usage === null

const IMAGES = '/images/generations'

/**
 * Tells whether a stream has several images. Each states its own usage: where one does not, or is missing, all cost the
 * whole reservation.
 */
const streamsImages = ({ route }: VerbatimRequest, { asked }: ReplyContext): boolean =>
  route.path === IMAGES && choicesOf(asked) > 1

/** Headers of a reply with the type that the upstream announced. */
const announcedHeaders = ({ headers, announced }: WholeReply | StreamReply) => ({
  ...headers,
  'content-type': announced,
})

/** Usage of a whole reply, or the text to estimate it from. */
function observedIn({ route }: VerbatimRequest, value: unknown): Observed {
  const { choices, output, content, output_file_id, error_file_id } = fieldsOrNone(value)
  const usage = usageField(value)
  const files = [output_file_id, error_file_id].filter((one): one is string => typeof one === 'string')
  const made = route.makes ? [...madeByResponse(value, {}), ...files] : []
  if (route.cost === 'nothing' || route.cost === 'unbounded') return { ...NOTHING, answer: value, made }
  const answer = COUNTED.has(route.path) ? (choices ?? output ?? content) : choices
  const generated = route.cost === 'input' ? '' : answer
  return {
    usage: readUsage(usage) ?? readUsage({ prompt_tokens: fieldsOrNone(usage).total_tokens }),
    terms: termsOf(route.path, value),
    generated:
      generated === undefined ? null : () => ({ text: generated === '' ? '' : JSON.stringify(generated), factor: 1 }),
    answer: value,
  }
}

/** Terms of the price in a whole reply; images count by the piece, recordings by the length it names. */
function termsOf(path: string, value: unknown): ReportedTerms {
  const { response, data, duration } = fieldsOrNone(value)
  const usage = usageField(value)
  const terms = readTerms(isObject(response) ? response : value, usage)
  if (path === IMAGES) return { ...terms, uses: { image: objectsOrNone(data).length } }
  const heard = path.startsWith('/audio/') && !terms.uses.audio_second ? secondsOf(duration) : null
  return heard === null ? terms : { ...terms, uses: heard }
}

/**
 * Removes the objects of other callers from a list. Null when the caller may see all of it.
 *
 * @throws GazewayError `upstream_bad_reply` when the reply is not such a list
 */
async function visibleIn(
  reply: WholeReply,
  provider: Provider,
  select: NonNullable<VerbatimRequest['visible']>,
): Promise<unknown> {
  const list = parseJson(bodyText(reply))
  const all: unknown = isObject(list) ? list.data : list
  if (!Array.isArray(all)) throw badReply(provider, 'its reply is not a list')
  const idOf = (one: unknown): string => String(fieldsOrNone(one).id)
  const visible = await select(all.map(idOf))
  const data = all.filter((one) => visible.has(idOf(one)))
  if (data.length === all.length) return null
  if (!isObject(list)) return data
  const ends = { first_id: fieldsOrNone(data[0]).id ?? null, last_id: fieldsOrNone(data.at(-1)).id ?? null }
  return { ...list, data, ...('first_id' in list && ends) }
}

/** Collects a reply that began as a stream. */
function gathered({ consume, exchange }: StreamReply, provider: Provider): Promise<Buffer> {
  const received = gatherBytes()
  let size = 0
  return new Promise((resolve, reject) => {
    consume({
      onData(chunk) {
        size += chunk.length
        if (size <= WHOLE_LIMIT_BYTES) return received.push(chunk)
        reject(tooLarge(provider))
        exchange.abort()
      },
      onEnd: () => resolve(Buffer.concat(received.take())),
      onError: (error) => reject(error === CLIENT_GONE ? error : streamFailure(error, provider)),
    })
  })
}
