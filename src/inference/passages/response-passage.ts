import type { GazewayError } from '../../errors.ts'
import { splitEvents } from '../../wire/whole-events.ts'
import { isUnfinished, LAST_EVENTS } from '../api/finish-reason.ts'
import { isReport, readReported } from '../api/reported-error.ts'
import type { ResponseRequest } from '../api/requests.ts'
import { trackResponse } from '../convert/begun-response.ts'
import type { ResponseObject } from '../convert/chat-to-response.ts'
import { responseEvents } from '../convert/response-events.ts'
import { madeByResponse, madeByStream } from '../observe/made-objects.ts'
import { nextNumber } from '../observe/next-number.ts'
import { type Observed, observedStream, observedWhole } from '../observe/observe.ts'
import { lackOf } from '../observe/response-texts.ts'
import { type EventData, eventData, type SseTap } from '../observe/sse-tap.ts'
import { streamedOutput } from '../observe/streamed-output.ts'
import type { StreamReply, WholeReply } from '../relay/exchange.ts'
import { pump } from '../relay/receiver.ts'
import { endingOf } from '../relay/send.ts'
import { clientGone, endedEarly, streamFailure, upstreamFailure } from '../upstreams/failure.ts'
import { gatherResponse } from './gather.ts'
import { type Answered, answered, type Failed, failed, type Passage, type ReplyContext } from './passage.ts'
import { passedHeaders, readResponse, responseErrorEvent, toSse } from './upstream-reply.ts'
import { splicedRequest } from './write-request.ts'

/** Events before any output. A stream that fails among them has not begun for its client. */
const BEFORE_OUTPUT = new Set(['response.created', 'response.queued', 'response.in_progress', 'keepalive', 'ping'])
/** Maximum number of bytes before the first output: an event that repeats the whole request, and a few more. */
const HELD_LIMIT_BYTES = 16 * 1024 * 1024

/**
 * Passes a Responses request through. When the endpoint fails before its first text, another candidate can answer,
 * after the items already streamed.
 */
export const responsePassage: Passage = {
  convert: (asked) => asked,
  write: splicedRequest,
  isReformed: true,
  dropsUsage: () => false,
  gather: gatherResponse,
  passWhole,
  passStream,
}

function passWhole(context: ReplyContext, reply: WholeReply): Answered | Failed {
  const { provider, receiver, stream, needsText } = context
  const { status } = reply
  const response = readResponse(reply, provider)
  const whole = { ...observedWhole(response, response.output), made: madeByResponse(response, context.asked) }
  const observed: Observed = isUnfinished(response.status) ? { ...whole, generated: null } : whole
  if (response.status === 'failed') {
    const error = upstreamFailure(readReported(response.error), provider, { cancelled: false })
    return failed(error, status, { ...observed, generated: null, answer: null })
  }
  const lack = needsText ? lackOf(response as unknown as ResponseObject, provider) : null
  if (lack) return failed(lack, status, { ...observed, generated: null, answer: null })
  // Some providers never stream.
  const events = stream ? toSse([...responseEvents(response)]) : null
  const headers = passedHeaders(reply.headers, context)
  if (events) {
    receiver.head(status, { ...headers, 'content-type': 'text/event-stream' })
    receiver.end(events)
  } else receiver.whole(status, headers, reply.body)
  return answered(status, observed)
}

async function passStream(context: ReplyContext, reply: StreamReply, tap: SseTap): Promise<Answered | Failed> {
  const { provider, receiver, requestId, needsText, onFirst } = context
  const { status } = reply
  let held: Buffer[] | null = []
  let heldBytes = 0
  let last: Buffer | null = null
  let complete = false
  const made = madeByStream(context.asked)
  const tracker = trackResponse(context.asked as unknown as ResponseRequest, { needsText })
  const output = streamedOutput()
  const headers = passedHeaders(reply.headers, context)
  receiver.hold?.(status, headers)

  /**
   * Holds back events before the first output, so that nothing is sent when the stream fails there. Also holds back the
   * report of a failure before the first text, so that another answer can follow.
   */
  function filter(events: Buffer): Buffer | null {
    if (events.includes('sequence_number')) last = events
    complete ||= LAST_EVENTS.some((type) => events.includes(String(type))) && splitEvents(events).some(isLast)
    made.read(events)
    if (held === null && tracker.isCommitted()) return events
    const passed: Buffer[] = []
    let isOutput = held === null
    for (const event of splitEvents(events)) {
      const data = eventData(event)
      const fault = data && faultOf(data)
      if (fault && (!isOutput || isOpen())) {
        if (isOutput) receiver.write(begin(passed))
        complete = false
        throw fault
      }
      if (data !== null) tracker.push(data)
      passed.push(event)
      // Events without a type do not belong to a Response.
      isOutput ||= data?.type !== undefined && !BEFORE_OUTPUT.has(data.type)
    }
    if (isOutput) return begin(passed)
    held?.push(events)
    heldBytes += events.length
    if (heldBytes > HELD_LIMIT_BYTES) throw new Error('The stream exceeded its size limit before its first output.')
    return null
  }

  /** Error of an event that leaves its client without an answer: it reports a failure, or ends an empty Response. */
  function faultOf(data: EventData): Error | null {
    if (isFailure(data)) return tap.failed() ?? new Error('The stream reported a failure.')
    if (!needsText) return null
    output.push(data)
    return LAST_EVENTS.includes(data.type) && !tracker.isCommitted() ? lackIn(data) : null
  }

  /**
   * Tells whether another answer can follow what the client has received. A client that reads text only has nothing
   * before the first text.
   */
  function isOpen(): boolean {
    return needsText ? !tracker.isCommitted() : tracker.begun() !== null
  }

  function lackIn({ response }: EventData): GazewayError | null {
    return response ? lackOf(output.complete(response) as ResponseObject, provider) : null
  }

  function begin(passed: readonly Buffer[]): Buffer {
    const whole = Buffer.concat([...(held ?? []), ...passed])
    if (held !== null) receiver.head(status, headers)
    held = null
    return whole
  }

  const end = await pump(reply, receiver, tap, {
    filter,
    onFirst,
    stallMs: provider.timeoutMs,
    isOver: () => complete,
  })
  const observed = { ...observedStream(tap), made: made.ids() }
  const reported = tap.failed()
  // Anything after the last event does not change the answer, and many clients disconnect there.
  const isAnswered = complete && held === null && reported === null
  if (end.kind === 'gone' && !isAnswered) return answered(status, observed, clientGone(endingOf(receiver)))
  const cut = complete ? null : endedEarly(provider)
  const failure = end.kind === 'broken' ? streamFailure(end.error, provider) : cut
  const broken = isAnswered ? null : failure
  if (broken && (held !== null || isOpen())) return failed(broken, status, observed, { begun: tracker.begun() })
  receiver.end(broken && reported === null ? responseErrorEvent(broken, requestId, nextNumber(last)) : undefined)
  const reportedFailure = reported && upstreamFailure(reported, provider, { cancelled: false })
  return answered(status, observed, reportedFailure ?? broken)
}

/** Tells whether an event reports a failure of its stream. */
const isFailure = ({ type, error }: EventData): boolean =>
  type === 'error' || type === 'response.failed' || isReport(error)

/** Parses the event, since a text may contain the name of an event too. */
const isLast = (event: Buffer): boolean => LAST_EVENTS.includes(eventData(event)?.type)
