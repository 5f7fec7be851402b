import type { GazewayError } from '../../errors.ts'
import { objectsOrNone } from '../../text/lenient-reader.ts'
import { splitEvents } from '../../wire/whole-sse-events.ts'
import { isUnfinished, LAST_EVENTS } from '../api/finish-reason.ts'
import { isReport, readReported } from '../api/reported-error.ts'
import type { ResponseRequest } from '../api/requests.ts'
import { type ResponseTracker, trackResponse } from '../convert/begun-response.ts'
import type { ResponseObject } from '../convert/chat-to-response.ts'
import { asksForSummary } from '../convert/compaction.ts'
import { responseEvents } from '../convert/response-events.ts'
import { withSummaries } from '../convert/summaries.ts'
import { withoutSealedItems } from '../convert/without-reasoning.ts'
import { type EventData, eventData } from '../observe/event-data.ts'
import { madeByResponse, madeByStream } from '../observe/made-objects.ts'
import { nextNumber } from '../observe/next-sequence-number.ts'
import { type Observed, observedStream, observedWhole } from '../observe/observe.ts'
import { lackOf } from '../observe/response-texts.ts'
import type { SseTap } from '../observe/sse-tap.ts'
import { streamedOutput } from '../observe/streamed-output.ts'
import type { StreamReply, WholeReply } from '../relay/exchange.ts'
import { badReply, upstreamFailure } from '../upstreams/failure.ts'
import { HELD_RESPONSE_BYTES, holdBeginning } from './held-beginning.ts'
import {
  type Answered,
  answered,
  type Conversion,
  type Failed,
  failed,
  type Passage,
  type ReplyContext,
} from './passage.ts'
import { readableResponse } from './readable-response.ts'
import { endError, relayStream, reportedError, sendAnswer } from './relay-stream.ts'
import { watchResponseCalls } from './response-calls.ts'
import { passedHeaders, readResponse, responseErrorEvent, toSse } from './upstream-reply.ts'
import { gatherResponse } from './whole-from-stream.ts'
import { splicedRequest } from './write-request.ts'

/** Events before any output. A stream that fails among them has not begun for its client. */
const BEFORE_OUTPUT = new Set(['response.created', 'response.queued', 'response.in_progress', 'keepalive', 'ping'])

/** Tells whether an event of a Response has output, or ends it. Events without a type do not belong to one. */
export const isResponseOutput = ({ type }: { type?: unknown }): boolean =>
  type !== undefined && !BEFORE_OUTPUT.has(type as string)

/**
 * Passes a Responses request through. When the endpoint fails before its first text, another candidate can answer,
 * after the items already streamed.
 */
export const responsePassage: Passage = {
  convert: withoutOurItems,
  write: splicedRequest,
  isReformed: true,
  dropsUsage: () => false,
  gather: gatherResponse,
  passWhole,
  passStream,
}

/** Puts in the summaries that Gazeway sealed, and takes out what it sealed of another upstream. */
export function withoutOurItems(asked: object, { note, reasoning }: Conversion): object {
  return reasoning.mayBring() ? withoutSealedItems(withSummaries(asked, reasoning.openSummary), note) : asked
}

function passWhole(context: ReplyContext, reply: WholeReply): Answered | Failed {
  const { provider, stream, needsText } = context
  const { status } = reply
  const given = readResponse(reply, provider)
  const { response, fault } = readableResponse(given, context.asked.tools)
  const whole = { made: madeByResponse(response, context.asked), ...observedWhole(response, response.output) }
  const observed: Observed = isUnfinished(response.status) ? { ...whole, generated: null } : whole
  if (response.status === 'failed') {
    const error = upstreamFailure(readReported(response.error), provider, { cancelled: false })
    return failed(error, status, { ...observed, generated: null, answer: null })
  }
  if (fault !== null) return failed(badReply(provider, fault), status, observed)
  const lack = needsText ? lackOf(response as unknown as ResponseObject, provider) : summaryLack(context, response)
  if (lack) return failed(lack, status, { ...observed, generated: null, answer: null })
  // It is answered in the background although nobody asked for that: by a server that read the request in its own way.
  if (isUnfinished(response.status) && observed.usage === null) context.bill.cutOff()
  const body = response === given ? reply.body : Buffer.from(JSON.stringify(response))
  const content = stream ? toSse([...responseEvents(response)]) : body
  sendAnswer(context, status, passedHeaders(reply.headers, context), content)
  return answered(status, observed)
}

/** Error of a Response that is not the summary which was asked for. Null for any other request. */
function summaryLack(
  { asked, provider }: ReplyContext,
  { output, status }: { output: unknown; status?: unknown },
): GazewayError | null {
  if (!asksForSummary(asked as { input?: unknown }) || isUnfinished(status)) return null
  const isSummary = objectsOrNone(output).some(({ type }) => type === 'compaction')
  return isSummary ? null : badReply(provider, 'it answered without a summary of the conversation')
}

async function passStream(context: ReplyContext, reply: StreamReply, tap: SseTap): Promise<Answered | Failed> {
  const { receiver, requestId } = context
  const { status } = reply
  const held = holdBeginning(context, status, passedHeaders(reply.headers, context), HELD_RESPONSE_BYTES)
  const faults = watchFaults(context, tap)
  const made = madeByStream(context.asked)
  const calls = watchResponseCalls(context)
  let last: Buffer | null = null
  let complete = false

  /**
   * Holds back events before the first output, so that nothing is sent when the stream fails there. Also holds back the
   * report of a failure before the first text, so that another answer can follow.
   */
  function filter(given: Buffer): Buffer | null {
    const events = calls.read(given)
    if (events.includes('sequence_number')) last = events
    complete ||= LAST_EVENTS.some((type) => events.includes(String(type))) && splitEvents(events).some(isLast)
    made.read(events)
    if (!held.isHeld() && faults.isCommitted()) return events
    const passed: Buffer[] = []
    let isOutput = !held.isHeld()
    for (const event of splitEvents(events)) {
      const data = eventData(event)
      const fault = data && faults.in(data)
      if (fault && (!isOutput || faults.isOpen())) {
        if (isOutput) receiver.write(held.add(Buffer.concat(passed), true) as Buffer)
        complete = false
        throw fault
      }
      if (data !== null) faults.push(data)
      passed.push(event)
      isOutput ||= data !== null && isResponseOutput(data)
    }
    return held.add(events, isOutput)
  }

  const end = await relayStream(context, reply, tap, filter, () => complete)
  const observed = { made: made.ids(), ...observedStream(tap) }
  const reported = reportedError(tap, context)
  const broken = endError(end, context, complete && !held.isHeld() && reported === null, complete)
  if (broken && end.kind === 'gone') return answered(status, observed, broken)
  if (broken && (held.isHeld() || faults.isOpen())) return failed(broken, status, observed, { begun: faults.begun() })
  receiver.end(broken && reported === null ? responseErrorEvent(broken, requestId, nextNumber(last)) : undefined)
  return answered(status, observed, reported ?? broken)
}

/** Faults of a streamed Response that another answer can still make up for. */
interface FaultWatch extends ResponseTracker {
  /** Error of an event that leaves its client without an answer: it reports a failure, or ends an empty Response. */
  in(data: EventData): Error | null
  /**
   * Tells whether another answer can follow what the client has received. A client that reads text only has nothing
   * before the first text.
   */
  isOpen(): boolean
}

function watchFaults({ asked, needsText, provider }: ReplyContext, tap: SseTap): FaultWatch {
  const tracker = trackResponse(asked as unknown as ResponseRequest, { needsText })
  const output = streamedOutput()
  return {
    ...tracker,
    in(data) {
      if (isFailure(data)) return tap.failed() ?? new Error('The stream reported a failure.')
      if (!needsText) return null
      output.push(data)
      const isEmpty = LAST_EVENTS.includes(data.type) && !tracker.isCommitted()
      return isEmpty && data.response ? lackOf(output.complete(data.response) as ResponseObject, provider) : null
    },
    isOpen: () => (needsText ? !tracker.isCommitted() : tracker.begun() !== null),
  }
}

/** Tells whether an event reports a failure of its stream. */
const isFailure = ({ type, error }: EventData): boolean =>
  type === 'error' || type === 'response.failed' || isReport(error)

/** Parses the event, since a text may contain the name of an event too. */
const isLast = (event: Buffer): boolean => LAST_EVENTS.includes(eventData(event)?.type)
