import { isObject, parseJson } from '../../text/json.ts'
import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { GENERATE_CONTENT, type GeminiMethod, geminiTarget } from '../api/gemini-endpoints.ts'
import { reportedIn } from '../api/reported-error.ts'
import { contentFields } from '../convert/gemini-request.ts'
import { broughtSignatures, withoutSeals } from '../convert/gemini-signatures.ts'
import { eventData } from '../observe/event-data.ts'
import { observedStream, observedWhole } from '../observe/observe.ts'
import type { SseTap } from '../observe/sse-tap.ts'
import type { StreamReply, WholeReply } from '../relay/exchange.ts'
import { convertedText, requestBody } from '../relay/request-body.ts'
import { badReply, hideSecrets } from '../upstreams/failure.ts'
import type { Provider } from '../upstreams/provider.ts'
import { errorEvent } from './error-event.ts'
import { fromFirstOutput, holdBeginning } from './held-beginning.ts'
import {
  type Answered,
  answered,
  type Conversion,
  type Failed,
  failed,
  type Passage,
  type ReplyContext,
} from './passage.ts'
import { endError, relayStream, reportedError, sendAnswer } from './relay-stream.ts'
import { bodyText, passedHeaders, type Refusal, readRefusal } from './upstream-reply.ts'
import type { Writing, Written } from './write-request.ts'

/**
 * Passes a Gemini request through to an upstream that has Google's own API. Its model is in the path; of the body only what
 * determines the bill is set. Errors and events are unchanged.
 */
export const geminiPassage: Passage = {
  convert: unsealed,
  seals: (asked) => broughtSignatures(asked as Fields),
  write(writing) {
    const { request, fieldsOf, bill } = writing
    // A limit that was refused is lowered.
    const asked = bill.isBounded ? { ...request.json, ...fieldsOf(request.json) } : request.json
    return writeGemini(writing, methodOf(writing), contentFields(asked, bill.isBounded))
  },
  isReformed: false,
  lowersLimit: true,
  dropsUsage: () => false,
  passWhole,
  passStream,
  refusal,
}

/** Replaces what Gazeway sealed, on its way through another upstream: Google refuses signatures that it did not make. */
export function unsealed(asked: object, { note, reasoning }: Pick<Conversion, 'note' | 'reasoning'>): object {
  return reasoning.mayBring() ? withoutSeals(asked as Fields, note) : asked
}

const methodOf = ({ request }: Writing): GeminiMethod =>
  request.json.stream === true ? 'streamGenerateContent' : 'generateContent'

/**
 * Writes a request to a method of a model.
 *
 * @param fieldsOf fields to set in the body; undefined removes one
 */
export function writeGemini(
  { request, sent, isChanged, converted }: Writing,
  method: GeminiMethod,
  fieldsOf: (body: Fields) => Fields,
): Written | Promise<Written> {
  const target = geminiTarget(String((sent as Fields).model), method)
  const posted = (body: string | Buffer): Written => ({ method: 'POST', target, body, headers: undefined })
  const withFields = (body: object) => ({ ...body, ...fieldsOf(body as Fields) })
  const body = isChanged
    ? convertedText(request, withFields(sent), (json) => withFields(converted({ ...json, ...request.edits })))
    : requestBody({ ...request, edits: {} }, (json) => fieldsOf(json as Fields))
  return body instanceof Promise ? body.then(posted) : posted(body)
}

/** The upstream's own error reply, with the gateway's key removed. */
function refusal(reply: WholeReply, { provider, requestId }: ReplyContext): Refusal {
  const { error } = readRefusal(reply, provider, requestId)
  return { error, body: hideSecrets(bodyText(reply), provider.secrets) }
}

/**
 * Reads a Gemini reply. One to a blocked prompt has no candidates.
 *
 * @throws ReportedError when it contains an error; GazewayError `upstream_bad_reply` for anything else
 */
function readContent(reply: WholeReply, provider: Provider): Fields {
  const value = parseJson(bodyText(reply))
  const reported = reportedIn(value)
  if (reported) throw reported
  if (isObject(value) && (Array.isArray(value.candidates) || isObject(value.promptFeedback))) return value
  throw badReply(provider, 'its reply has no candidates')
}

function passWhole(context: ReplyContext, reply: WholeReply): Answered {
  const content = readContent(reply, context.provider)
  const body = context.stream ? `data: ${JSON.stringify(content)}\n\n` : reply.body
  sendAnswer(context, reply.status, passedHeaders(reply.headers, context), body)
  return answered(reply.status, observedWhole(content, content.candidates ?? []))
}

/** Passes a stream on. While another candidate could answer, it begins with the first output and may fail before. */
async function passStream(context: ReplyContext, reply: StreamReply, tap: SseTap): Promise<Answered | Failed> {
  const { receiver, requestId } = context
  const { status } = reply
  const held = holdBeginning(context, status, passedHeaders(reply.headers, context))
  if (receiver.isSole !== false) held.release()
  const end = await relayStream(context, reply, tap, fromFirstOutput(held, tap, isOutput))
  const observed = observedStream(tap)
  // The last piece has the finish reason and the usage.
  const broken = endError(end, context, tap.ending().finished)
  if (broken && end.kind === 'gone') return answered(status, observed, broken)
  const reported = reportedError(tap, context)
  const failure = reported ?? broken
  if (held.isHeld() && failure) return failed(failure, status, observed)
  if (held.isHeld()) receiver.write(held.release())
  receiver.end(broken && reported === null ? errorEvent(GENERATE_CONTENT, broken, requestId) : undefined)
  return answered(status, observed, failure)
}

/** Tells whether a piece of a reply has a part of the answer, or its end. */
function isOutput(event: Buffer): boolean {
  const { candidates, promptFeedback } = fieldsOrNone(eventData(event))
  if (isObject(promptFeedback) && promptFeedback.blockReason !== undefined) return true
  return objectsOrNone(candidates).some(
    ({ content, finishReason }) => Boolean(finishReason) || objectsOrNone(fieldsOrNone(content).parts).length > 0,
  )
}
