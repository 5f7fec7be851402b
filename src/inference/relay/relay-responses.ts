import type { CallContext } from '../../calls/call-record.ts'
import { GazewayError } from '../../errors.ts'
import { readUsage } from '../../providers/usage.ts'
import { splitEvents } from '../../wire/whole-events.ts'
import { trackResponse } from '../convert/begun-response.ts'
import { responseEvents } from '../convert/response-events.ts'
import type { ResponseRequest } from '../convert/responses-to-chat.ts'
import { endedEarly, streamFailure, upstreamFailure } from '../failure.ts'
import { modelFor } from '../model-for.ts'
import { type CallEnd, type Recording, startRecording } from '../recording.ts'
import { isReport, readReported } from '../reported-error.ts'
import { gatherResponse } from './gather.ts'
import { heldReceiver } from './held-receiver.ts'
import type { Passing } from './passing.ts'
import { pump, type Receiver } from './receiver.ts'
import type { Relay } from './relay.ts'
import { type FirstFailure, type RelayedRequest, relayFallback } from './relay-fallback.ts'
import { passedHeaders, type ReadResponse, readRefusal, readResponse, responseErrorEvent, toSse } from './reply.ts'
import { type ClientRequest, requestBody } from './request-body.ts'
import type { StreamReply, WholeReply } from './send.ts'
import { createSseTap, type EventData, eventData, type SseTap } from './sse-tap.ts'
import { countUsage, streamOutcome } from './stream-outcome.ts'

/** Events that come before a model says anything; a stream that fails among them has not begun for its client. */
const BEFORE_OUTPUT = new Set(['response.created', 'response.queued', 'response.in_progress', 'keepalive', 'ping'])
const LAST_EVENTS = ['response.completed', 'response.incomplete', 'response.failed']
/** A Response that is answered before it is generated, as with `background`; whoever asks for it later learns its usage. */
const UNFINISHED = new Set(['queued', 'in_progress'])
/** What may come before the first output: one event that repeats the whole request, and some more. */
const HELD_LIMIT_BYTES = 16 * 1024 * 1024

/**
 * Passes a Responses request through. Where the endpoint fails before its first text, chat completions answer in its
 * place with the fallback model, after the items that a stream has brought; where they fail too, the client gets the first
 * failure.
 *
 * Usage is recorded as for chat completions (`relayChat`).
 *
 * @returns when the reply is over and recorded
 * @throws GazewayError before the first byte of the reply; after it, the stream itself ends with an error event
 */
export async function relayResponses(
  relay: Relay,
  request: ClientRequest<RelayedRequest>,
  receiver: Receiver,
  context: CallContext & { requestId: string | null },
): Promise<void> {
  const { provider } = relay
  const { json: body } = request
  provider.requireKey()
  const found = modelFor(relay, body.model ?? undefined, 'primary', context)
  const model = found instanceof Promise ? await found : found
  const stream = body.stream === true
  const changes = { model: model.upstream }
  const sent = { ...body, ...changes }
  const written = requestBody(request, sent, changes)
  const bytes = written instanceof Promise ? await written : written
  const recording = startRecording(relay, { path: '/responses', model, stream, request: sent }, context)
  const send = () => relay.open('/responses', { body: bytes, stream, via: context.via }, receiver)
  const held = stream ? heldReceiver(receiver, relay.heartbeat) : null
  try {
    const client = held ?? receiver
    const { requestId } = context
    const passing = { relay, receiver: client, stream, requestId, sent, recording, asked: body as ResponseRequest }
    const failure = await attempt(passing, send)
    if (failure === null) return
    const answered = await relayFallback(relay, request, failure, client, context)
    if (answered) return
    if (held?.isBegun()) held.end(responseErrorEvent(failure.error, requestId, failure.begun?.sequence ?? 0))
    else tell(failure, relay, receiver, requestId)
  } finally {
    held?.release()
  }
}

/** Answers with the failure. @throws its error, unless it is a refusal of the upstream's */
function tell({ refused, error, callId }: FirstFailure, relay: Relay, receiver: Receiver, requestId: string | null) {
  const { provider } = relay
  if (!refused) throw error
  const headers = passedHeaders(refused.headers, callId, provider)
  const { body } = readRefusal(refused, provider, requestId)
  receiver.whole(refused.status, { ...headers, 'content-type': 'application/json' }, body)
}

/** A Responses request that is passed through. */
interface ResponsesPassing extends Passing {
  asked: ResponseRequest
}

/** Asks the responses endpoint. @returns null when the client has its reply, else why it has none */
async function attempt(
  passing: ResponsesPassing,
  send: () => Promise<WholeReply | StreamReply>,
): Promise<FirstFailure | null> {
  const { relay, receiver, stream, requestId, sent, recording } = passing
  const { provider } = relay
  let reply: WholeReply | StreamReply | undefined
  let tap: SseTap | undefined
  let response: ReadResponse | undefined
  let events: Buffer | null
  try {
    reply = await send()
    if (reply.kind === 'stream') {
      tap = createSseTap({ dropUsageChunk: false, secrets: provider.secrets })
      if (stream) return passStream(passing, reply, tap)
      reply = await gatherResponse(passing, reply, tap)
    }
    const { status: httpStatus } = reply
    if (httpStatus >= 400) return fail(recording, refusal(relay, reply, requestId), { httpStatus }, reply)
    response = readResponse(reply, provider)
    if (response.status === 'failed') throw readReported(response.error)
    // Some providers never stream.
    events = stream ? toSse([...responseEvents(response)]) : null
  } catch (error) {
    const failure = upstreamFailure(error, provider, { cancelled: receiver.isGone() })
    const outcome = tap ? await streamOutcome(passing, tap) : { usage: readUsage(response?.usage) }
    return fail(recording, failure, { httpStatus: reply?.status ?? null, ...outcome })
  }
  const { status: httpStatus } = reply
  const headers = passedHeaders(reply.headers, recording.callId, relay.provider)
  if (events) {
    receiver.head(httpStatus, { ...headers, 'content-type': 'text/event-stream' })
    receiver.end(events)
  } else receiver.whole(httpStatus, headers, reply.body)
  const isFinished = !UNFINISHED.has(response.status ?? '')
  const usage = readUsage(response.usage) ?? (isFinished ? await countUsage(relay, sent, response.output) : null)
  recording.finish({ status: 'ok', httpStatus, error: null, usage, answer: response })
  return null
}

async function passStream(passing: ResponsesPassing, reply: StreamReply, tap: SseTap): Promise<FirstFailure | null> {
  const { receiver, requestId, recording } = passing
  const { provider } = passing.relay
  let held: Buffer[] | null = []
  let heldBytes = 0
  let last: Buffer | null = null
  let complete = false
  const tracker = trackResponse(passing.asked)
  const headers = passedHeaders(reply.headers, recording.callId, provider)
  receiver.hold?.(reply.status, headers)

  /**
   * Holds back what comes before the first output, so that a failure there leaves the client's reply without an event, and
   * the report of a failure before the first text, so that another answer can follow.
   */
  function filter(events: Buffer): Buffer | null {
    if (events.includes('sequence_number')) last = events
    complete ||= LAST_EVENTS.some((type) => events.includes(type)) && splitEvents(events).some(isLast)
    if (held === null && tracker.isCommitted()) return events
    const told: Buffer[] = []
    let isOutput = held === null
    for (const event of splitEvents(events)) {
      const data = eventData(event)
      if (data !== null && isFailure(data) && (!isOutput || tracker.begun() !== null)) {
        if (isOutput) receiver.write(begin(told))
        throw tap.failed() ?? new Error('It reported a failure.')
      }
      if (data !== null) tracker.push(data)
      told.push(event)
      isOutput ||= data !== null && !BEFORE_OUTPUT.has(data.type ?? '')
    }
    if (isOutput) return begin(told)
    held?.push(events)
    heldBytes += events.length
    if (heldBytes > HELD_LIMIT_BYTES) throw new Error('Too much came before its first output.')
    return null
  }

  function begin(told: readonly Buffer[]): Buffer {
    const whole = Buffer.concat([...(held ?? []), ...told])
    if (held !== null) receiver.head(reply.status, headers)
    held = null
    return whole
  }

  const end = await pump(reply, receiver, tap, {
    filter,
    onFirst: recording.firstToken,
    stallMs: provider.timeoutMs,
    isOver: () => complete,
  })
  // Whatever comes after the last event changes nothing about the answer; many clients leave at it.
  const answered = complete && held === null && tap.failed() === null
  if (end.kind === 'gone' && !answered) {
    await finish('aborted', 'The client went away before the end of the stream.')
    return null
  }
  const cut = complete ? null : endedEarly(provider)
  const failure = end.kind === 'broken' ? streamFailure(end.error, provider) : cut
  const broken = answered ? null : failure
  const begun = tracker.begun()
  if (broken && (held !== null || begun !== null)) {
    const end = { httpStatus: reply.status, ...(await streamOutcome(passing, tap)) }
    return { ...fail(recording, broken, end), begun }
  }
  const reported = tap.failed()
  receiver.end(broken && reported === null ? responseErrorEvent(broken, requestId, nextNumber(last)) : undefined)
  const error = reported ?? broken
  await finish(error === null ? 'ok' : 'error', error)
  return null

  async function finish(status: 'ok' | 'error' | 'aborted', error: Error | string | null): Promise<void> {
    recording.finish({ status, httpStatus: reply.status, error, ...(await streamOutcome(passing, tap)) })
  }
}

/** Whether an event reports that its stream has failed. */
const isFailure = ({ type, error }: EventData): boolean =>
  type === 'error' || type === 'response.failed' || isReport(error)

/** A text may hold the name of an event, too. */
const isLast = (event: Buffer): boolean => LAST_EVENTS.includes(eventData(event)?.type ?? '')

function nextNumber(events: Buffer | null): number {
  const last =
    events &&
    splitEvents(events)
      .map(eventData)
      .findLast((data) => data !== null)
  return (last?.sequence_number ?? -1) + 1
}

function fail(
  recording: Recording,
  error: GazewayError,
  end: Pick<CallEnd, 'httpStatus'> & Partial<Pick<CallEnd, 'usage' | 'answer'>>,
  refused: WholeReply | null = null,
): FirstFailure {
  const status = error.code === 'cancelled' ? 'aborted' : 'error'
  recording.finish({ status, error, usage: null, answer: null, ...end })
  error.callId = recording.callId
  return { callId: recording.callId, error, refused, begun: null }
}

function refusal(relay: Relay, reply: WholeReply, requestId: string | null): GazewayError {
  const { provider } = relay
  const { status } = reply
  const { error: cause } = readRefusal(reply, provider, requestId)
  const message = `The upstream ${provider.name} answered ${status}: ${cause.message}`
  return new GazewayError('upstream_error', message, { status, cause })
}
