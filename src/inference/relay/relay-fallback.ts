import type { CallContext } from '../../calls/call-record.ts'
import type { GazewayError } from '../../errors.ts'
import { readUsage } from '../../providers/usage.ts'
import { parseJson } from '../../text/json.ts'
import { splitEvents } from '../../wire/whole-events.ts'
import { type ChatCompletion, modelTold } from '../chat.ts'
import type { BegunResponse } from '../convert/begun-response.ts'
import { toResponse } from '../convert/chat-to-response.ts'
import { completionEvents, createResponseEvents } from '../convert/chat-to-response-events.ts'
import { record } from '../convert/loose.ts'
import { type ResponseRequest, toChatRequest } from '../convert/responses-to-chat.ts'
import { countsOnStored } from '../convert/stored-state.ts'
import { endedEarly, streamFailure, upstreamFailure } from '../failure.ts'
import { fallbackModel, modelFor } from '../model-for.ts'
import { startRecording } from '../recording.ts'
import { refusedField } from '../refused-field.ts'
import { reportedUsage } from '../reported-error.ts'
import { isRenamed } from '../token-limits.ts'
import { WITH_USAGE } from '../usage-request.ts'
import { gatherCompletion } from './gather.ts'
import type { Passing } from './passing.ts'
import { pump, type Receiver } from './receiver.ts'
import type { Relay } from './relay.ts'
import { bodyText, passedHeaders, readCompletion, readRefusal, toSse } from './reply.ts'
import { type ClientRequest, convertedText } from './request-body.ts'
import { type StreamReply, tooLarge, WHOLE_LIMIT_BYTES, type WholeReply } from './send.ts'
import { createSseTap, eventData, type SseTap } from './sse-tap.ts'
import { countUsage, streamOutcome } from './stream-outcome.ts'
import { orWithoutUsage } from './without-usage.ts'

/** A Responses request, streaming or not. */
export type RelayedRequest = Omit<ResponseRequest, 'stream'> & { stream?: boolean | null }

/** Why the responses endpoint could not answer: its own refusal, or what went wrong. */
export interface FirstFailure {
  callId: string
  error: GazewayError
  /** The upstream's refusal, if it is one. */
  refused: WholeReply | null
  /** What its client has of its stream, for the answer that follows; null where it has nothing. */
  begun: BegunResponse | null
}

/** A Responses request that is passed through as a chat completion. */
interface FallbackPassing extends Passing {
  sent: { model: string }
  /** What its client asked, for the Response that tells it again. */
  asked: ResponseRequest
  begun: BegunResponse | null
}

/** Failures that chat completions would share; with no connection free, after another wait. */
const NOT_THE_ENDPOINT: ReadonlySet<string> = new Set(['cancelled', 'service_stopping', 'too_many_requests'])

/** Tells the client which endpoint answered. */
const ROUTE = { 'x-gazeway-route': 'chat_fallback' }

/**
 * Answers a Responses request through chat completions with the fallback model, as a Response or its stream of events.
 *
 * @param first why the responses endpoint could not answer
 * @returns false when chat completions could not answer either, or would answer without what the upstream has stored;
 *   the client has had no event of theirs then
 */
export async function relayFallback(
  relay: Relay,
  { text, json: request }: ClientRequest<RelayedRequest>,
  first: FirstFailure,
  receiver: Receiver,
  context: CallContext & { requestId: string | null },
): Promise<boolean> {
  if (NOT_THE_ENDPOINT.has(first.error.code)) return false
  if (request.input === undefined || request.input === null || countsOnStored(request)) return false
  const { provider } = relay
  const model = await modelFor(relay, fallbackModel(provider, request.model ?? undefined), 'fallback', context)
  const stream = request.stream === true
  const refused = first.refused && fieldRefusedBy(first.refused)
  const own = { model: model.upstream, ...(stream && { stream }) }
  const convert = (body: object) =>
    provider.limits.named({ ...toChatRequest(body as ResponseRequest, refused), ...own })
  const sent = convert(request)
  const invocation = { path: '/chat/completions', model, stream, fallbackFrom: first.callId, request: sent }
  const recording = startRecording(relay, invocation, context)
  const { requestId } = context
  const passing: FallbackPassing = {
    relay,
    receiver,
    stream,
    requestId,
    sent,
    recording,
    asked: request as ResponseRequest,
    begun: first.begun,
  }
  const send = async (fields: object) => {
    const changed = (body: object) => ({ ...convert(body), ...fields })
    const written = await convertedText(text, { ...passing.sent, ...fields }, changed)
    return relay.open('/chat/completions', { body: written, stream, via: context.via }, receiver)
  }
  const ask = async () => {
    if (!stream || !provider.usageRequests.fits(model.upstream)) return send({})
    const answered = await send(WITH_USAGE)
    if (answered.kind === 'stream') return answered
    return orWithoutUsage(answered, provider, model.upstream, () => send({}))
  }
  let reply: WholeReply | StreamReply | undefined
  let tap: SseTap | undefined
  try {
    reply = await ask()
    if (reply.kind === 'whole' && isRenamed(fieldRefusedBy(reply), bodyText(reply))) {
      provider.limits.renamed(model.upstream)
      passing.sent = convert(request)
      reply = await ask()
    }
    if (reply.kind === 'stream') {
      tap = createSseTap({ dropUsageChunk: false, secrets: provider.secrets })
      if (stream) return await passEvents(passing, reply, tap)
      reply = await gatherCompletion(passing, reply, tap)
    }
    return await passResponse(passing, reply)
  } catch (error) {
    const failure = upstreamFailure(error, provider, { cancelled: receiver.isGone() })
    const status = failure.code === 'cancelled' ? 'aborted' : 'error'
    const outcome = tap ? await streamOutcome(passing, tap) : { usage: reportedUsage(error), answer: null }
    recording.finish({ status, httpStatus: reply?.status ?? null, error: failure, ...outcome })
    return false
  }
}

/** Answers with a completion that came in one piece. */
async function passResponse(
  { relay, receiver, stream, sent, recording, asked, begun }: FallbackPassing,
  reply: WholeReply,
): Promise<boolean> {
  const { status: httpStatus } = reply
  if (httpStatus >= 400) {
    const { error } = readRefusal(reply, relay.provider, null)
    recording.finish({ status: 'error', httpStatus, error, usage: null, answer: null })
    return false
  }
  const completion = readCompletion(reply, relay.provider) as ChatCompletion
  const usage = readUsage(completion.usage) ?? (await countUsage(relay, sent, completion.choices))
  const named = { ...completion, model: modelTold(completion.model, sent.model) }
  const headers = { ...ROUTE, 'x-gazeway-call-id': recording.callId }
  if (stream) {
    receiver.head(200, { ...headers, 'content-type': 'text/event-stream' })
    receiver.end(toSse(completionEvents(named, asked, begun)))
  } else {
    const body = JSON.stringify(toResponse(named, asked))
    receiver.whole(200, { ...headers, 'content-type': 'application/json' }, body)
  }
  recording.finish({ status: 'ok', httpStatus, error: null, usage, answer: completion })
  return true
}

/** Answers with a stream of chunks, as they come. */
async function passEvents(passing: FallbackPassing, reply: StreamReply, tap: SseTap): Promise<boolean> {
  const { receiver, sent, recording, asked } = passing
  const { provider } = passing.relay
  const events = createResponseEvents(asked, { model: sent.model, begun: passing.begun })
  const headers = { ...passedHeaders(reply.headers, recording.callId, provider), ...ROUTE }
  let begun = false
  let size = 0
  receiver.hold?.(200, headers)

  function filter(bytes: Buffer): Buffer | null {
    // The last event holds the whole answer.
    size += bytes.length
    if (size > WHOLE_LIMIT_BYTES) throw tooLarge(provider)
    const chunks = splitEvents(bytes).flatMap((event) => eventData(event) ?? [])
    const reported = tap.failed()
    if (reported !== null) throw reported
    if (chunks.length === 0) return null
    const out = [...(begun ? [] : events.start()), ...chunks.flatMap((chunk) => events.push(chunk as never))]
    if (!begun) receiver.head(200, headers)
    begun = true
    return toSse(out)
  }

  const end = await pump(reply, receiver, tap, { filter, onFirst: recording.firstToken, stallMs: provider.timeoutMs })
  const outcome = await streamOutcome(passing, tap)
  if (end.kind === 'gone') {
    const error = 'The client went away before the end of the stream.'
    recording.finish({ status: 'aborted', httpStatus: reply.status, error, ...outcome })
    return true
  }
  const { done, finished } = tap.ending()
  const complete = begun && (done || finished)
  const cut = complete ? null : endedEarly(provider)
  const broken = end.kind === 'broken' ? streamFailure(end.error, provider) : cut
  if (broken) recording.finish({ status: 'error', httpStatus: reply.status, error: broken, ...outcome })
  else recording.finish({ status: 'ok', httpStatus: reply.status, error: null, ...outcome })
  if (!begun) return false
  receiver.end(toSse(broken ? events.fail(broken) : events.finish()))
  return true
}

/** The field that the upstream's 400 complains of. */
function fieldRefusedBy(reply: WholeReply): string | null {
  if (reply.status !== 400 && reply.status !== 422) return null
  return refusedField(record(parseJson(bodyText(reply))).error)
}
