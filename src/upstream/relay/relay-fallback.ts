import type { GazewayError } from '../../errors.ts'
import type { CallContext } from '../call-record.ts'
import { modelTold } from '../chat.ts'
import { type ResponseObject, toResponse } from '../convert/chat-to-response.ts'
import { completionEvents, createResponseEvents, type ResponseEvent } from '../convert/chat-to-response-events.ts'
import { type ResponseRequest, toChatRequest } from '../convert/responses-to-chat.ts'
import { countsOnStored } from '../convert/stored-state.ts'
import { estimateUsage } from '../estimate.ts'
import { badReply, streamFailure, upstreamFailure } from '../failure.ts'
import { type Recording, startRecording } from '../recording.ts'
import { readUsage } from '../usage.ts'
import { pump, type Receiver } from './receiver.ts'
import type { Relay } from './relay.ts'
import { passedHeaders, readRefusal, unfitness } from './reply.ts'
import { type ClientRequest, convertedText } from './request-text.ts'
import type { StreamReply, WholeReply } from './send.ts'
import { createSseTap, eventData, splitEvents } from './sse-tap.ts'
import { streamOutcome } from './stream-outcome.ts'

/** A Responses request, streaming or not. */
export type RelayedRequest = Omit<ResponseRequest, 'stream'> & { stream?: boolean | null }

/** Why the responses endpoint could not answer: its own refusal, or what went wrong. */
export interface FirstFailure {
  callId: string
  error: GazewayError
  /** What the upstream answered, if it did. */
  reply: WholeReply | null
}

/** Tells the client which endpoint answered. */
const ROUTE = { 'x-gazeway-route': 'chat_fallback' }

/**
 * Answers a Responses request through chat completions with the fallback model, as a Response or its stream of events.
 *
 * @param first why the responses endpoint could not answer
 * @returns false when chat completions could not answer either, or would answer without what the upstream has stored;
 *   the client has had nothing then
 */
export async function relayFallback(
  relay: Relay,
  { text, json: request }: ClientRequest<RelayedRequest>,
  first: FirstFailure,
  receiver: Receiver,
  context: CallContext & { requestId: string | null },
): Promise<boolean> {
  if (first.error.code === 'cancelled') return false
  if (request.input === undefined || request.input === null || countsOnStored(request)) return false
  const { provider } = relay
  const model = provider.resolve(undefined, 'fallback')
  const stream = request.stream === true
  const refused = refusedField(first.reply)
  const own = { model: model.upstream, ...(stream && { stream: true, stream_options: { include_usage: true } }) }
  const convert = (body: object) => ({ ...toChatRequest(body as ResponseRequest, refused), ...own })
  const sent = convert(request)
  const invocation = { path: '/chat/completions', model, stream, fallbackFrom: first.callId, request: sent }
  const recording = startRecording(relay, invocation, context)
  let reply: WholeReply | StreamReply | undefined
  try {
    const written = await convertedText(text, sent, convert)
    reply = await relay.open('/chat/completions', written, receiver)
    if (reply.kind === 'stream') return await passEvents(relay, reply, request, sent, receiver, recording)
    return await passResponse(relay, reply, request, sent, receiver, recording)
  } catch (error) {
    const failure = upstreamFailure(error, provider, { cancelled: receiver.isGone() })
    const status = failure.code === 'cancelled' ? 'aborted' : 'error'
    recording.finish({ status, httpStatus: reply?.status ?? null, error: failure, usage: null, answer: null })
    return false
  }
}

/** Answers with a completion that came in one piece. */
async function passResponse(
  relay: Relay,
  reply: WholeReply,
  request: RelayedRequest,
  sent: { model: string },
  receiver: Receiver,
  recording: Recording,
): Promise<boolean> {
  const { status: httpStatus } = reply
  const unfit = unfitness(reply)
  if (unfit) throw badReply(relay.provider, unfit)
  if (httpStatus >= 400) {
    const { error } = readRefusal(reply, relay.provider, null)
    recording.finish({ status: 'error', httpStatus, error, usage: null, answer: null })
    return false
  }
  const completion = JSON.parse(reply.body.toString('utf8'))
  if (!Array.isArray(completion?.choices)) throw badReply(relay.provider, 'its reply is not a chat completion')
  const usage =
    readUsage(completion.usage) ?? (await estimateUsage(relay.countTokens, sent, JSON.stringify(completion.choices)))
  const asked = request as ResponseRequest
  const named = { ...completion, model: modelTold(completion.model, sent.model) }
  const headers = { ...ROUTE, 'x-gazeway-call-id': recording.callId }
  if (request.stream === true) {
    receiver.head(200, { ...headers, 'content-type': 'text/event-stream' })
    receiver.end(toSse(completionEvents(named, asked)))
  } else sendResponse(receiver, headers, toResponse(named, asked))
  recording.finish({ status: 'ok', httpStatus, error: null, usage, answer: completion })
  return true
}

/** Answers with a stream of chunks, as they come where the client asked for a stream. */
async function passEvents(
  relay: Relay,
  reply: StreamReply,
  request: RelayedRequest,
  sent: { model: string },
  receiver: Receiver,
  recording: Recording,
): Promise<boolean> {
  const { provider } = relay
  const tap = createSseTap({ dropUsageChunk: false, secrets: provider.secrets })
  const events = createResponseEvents(request as ResponseRequest, { model: sent.model })
  const headers = { ...passedHeaders(reply.headers, recording.callId), ...ROUTE }
  // Some providers stream whatever they were asked for.
  const live = request.stream === true
  let begun = false

  function filter(bytes: Buffer): Buffer | null {
    const chunks = splitEvents(bytes).flatMap((event) => eventData(event) ?? [])
    const reported = tap.failed()
    if (reported !== null) throw reported
    if (chunks.length === 0) return null
    const out = [...(begun ? [] : events.start()), ...chunks.flatMap((chunk) => events.push(chunk as never))]
    if (!begun && live) receiver.head(200, headers)
    begun = true
    return live ? toSse(out) : null
  }

  const end = await pump(reply, receiver, tap, {
    filter,
    onFirst: recording.firstToken,
    stallMs: provider.timeoutMs,
    // The client waits for the last event, which is made of what has come until then.
    isOver: () => tap.ending().done,
  })
  const outcome = await streamOutcome(relay, tap, sent)
  if (end.kind === 'gone') {
    const error = 'The client went away before the end of the stream.'
    recording.finish({ status: 'aborted', httpStatus: reply.status, error, ...outcome })
    return true
  }
  const { done, finished } = tap.ending()
  const complete = begun && (done || finished)
  const cut = complete ? null : badReply(provider, 'its stream ended before the answer was complete')
  const broken = end.kind === 'broken' ? streamFailure(end.error, provider) : cut
  if (broken) recording.finish({ status: 'error', httpStatus: reply.status, error: broken, ...outcome })
  else recording.finish({ status: 'ok', httpStatus: reply.status, error: null, ...outcome })
  if (!begun || (broken && !live)) return false
  const last = broken ? events.fail(broken) : events.finish()
  if (live) receiver.end(toSse(last))
  else sendResponse(receiver, headers, endOf(last))
  return true
}

function sendResponse(receiver: Receiver, headers: Record<string, string>, response: ResponseObject | null): void {
  receiver.whole(200, { ...headers, 'content-type': 'application/json' }, JSON.stringify(response))
}

/** The Response that the last event of a stream holds. */
function endOf(events: readonly ResponseEvent[]): ResponseObject | null {
  const last = events.at(-1)
  return last && 'response' in last ? last.response : null
}

const toSse = (events: ReadonlyArray<{ type: string }>): Buffer =>
  Buffer.from(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))

/** The field that the upstream's 400 complains of. */
function refusedField(reply: WholeReply | null): string | null {
  if (reply?.status !== 400 && reply?.status !== 422) return null
  try {
    const param = JSON.parse(reply.body.toString('utf8'))?.error?.param
    return typeof param === 'string' ? param : null
  } catch {
    // A refusal that is not JSON names no field.
    return null
  }
}
