import { isObject, parseJson } from '../../text/json.ts'
import { splitEvents } from '../../wire/whole-events.ts'
import { MESSAGE_STOP } from '../api/finish-reason.ts'
import { statusOfType } from '../api/message-error.ts'
import { reportedIn } from '../api/reported-error.ts'
import type { Message } from '../api/requests.ts'
import { messageEvents } from '../convert/message-events.ts'
import { madeByMessage, madeByStream } from '../observe/made-objects.ts'
import { observedStream, observedWhole } from '../observe/observe.ts'
import { eventData, type SseTap } from '../observe/sse-tap.ts'
import type { StreamReply, WholeReply } from '../relay/exchange.ts'
import { pump } from '../relay/receiver.ts'
import { endingOf } from '../relay/send.ts'
import { badReply, clientGone, endedEarly, hideSecrets, streamFailure, upstreamFailure } from '../upstreams/failure.ts'
import type { Provider } from '../upstreams/provider.ts'
import { errorEvent } from './error-event.ts'
import { gatherMessage } from './gather.ts'
import {
  type Answered,
  answered,
  type Failed,
  failed,
  type Passage,
  type RefusedReply,
  type ReplyContext,
} from './passage.ts'
import { bodyText, passedHeaders, type Refusal, readRefusal, toSse } from './upstream-reply.ts'
import { splicedRequest } from './write-request.ts'

/** Events before any output. A stream that fails among them has not begun for its client. */
const BEFORE_OUTPUT: ReadonlySet<unknown> = new Set(['message_start', 'ping'])
/** Maximum number of bytes before the first output: the start of the Message, and pings. */
const HELD_LIMIT_BYTES = 1024 * 1024

/**
 * Passes a Messages request through to an upstream that speaks Messages. Body, errors and events are unchanged, since
 * clients react to their wording.
 */
export const messagePassage: Passage = {
  convert: (asked) => asked,
  write: splicedRequest,
  isReformed: true,
  dropsUsage: () => false,
  gather: gatherMessage,
  passWhole,
  passStream,
  refusal,
}

/** The upstream's own error body, with the gateway's key removed. */
function refusal(reply: WholeReply, { provider, requestId }: ReplyContext): Refusal {
  return { body: hideSecrets(bodyText(reply), provider.secrets), error: readRefusal(reply, provider, requestId).error }
}

/**
 * Reads a Message.
 *
 * @throws ReportedError when the reply contains an error; GazewayError `upstream_bad_reply` when it is not a Message
 */
export function readMessage(reply: WholeReply, provider: Provider): Message {
  const value = parseJson(bodyText(reply))
  const reported = reportedIn(value)
  if (reported) throw reported
  if (isObject(value) && Array.isArray(value.content)) return value as unknown as Message
  throw badReply(provider, 'its reply is not a message')
}

function passWhole(context: ReplyContext, reply: WholeReply): Answered {
  const { provider, receiver, stream } = context
  const message = readMessage(reply, provider)
  const headers = passedHeaders(reply.headers, context)
  if (stream) {
    // Before the headers, so that a serialization error can still have a status.
    const events = toSse(messageEvents(message))
    receiver.head(reply.status, { ...headers, 'content-type': 'text/event-stream' })
    receiver.end(events)
  } else receiver.whole(reply.status, headers, reply.body)
  const made = madeByMessage(message, context.asked)
  return answered(reply.status, { ...observedWhole(message, message.content), made })
}

async function passStream(context: ReplyContext, reply: StreamReply, tap: SseTap): Promise<Answered | Failed> {
  const { provider, receiver, requestId, onFirst } = context
  const { status } = reply
  const headers = passedHeaders(reply.headers, context)
  let held: Buffer[] | null = []
  let heldBytes = 0
  let complete = false
  let refused: WholeReply | null = null
  const made = madeByStream(context.asked)
  receiver.hold?.(status, headers)

  function filter(events: Buffer): Buffer | null {
    complete ||= events.includes(MESSAGE_STOP) && splitEvents(events).some(isStop)
    made.read(events)
    if (held === null) return events
    const data = splitEvents(events).flatMap((event) => eventData(event) ?? [])
    const isOutput = data.some(({ type }) => !BEFORE_OUTPUT.has(type))
    const reported = tap.failed()
    if (reported !== null) {
      refused = asRefusal(reply, data.find(({ type }) => type === 'error') ?? {})
      throw reported
    }
    held.push(events)
    heldBytes += events.length
    if (heldBytes > HELD_LIMIT_BYTES) throw new Error('The stream exceeded its size limit before its first output.')
    if (!isOutput) return null
    receiver.head(status, headers)
    const whole = Buffer.concat(held)
    held = null
    return whole
  }

  const stallMs = provider.timeoutMs
  const end = await pump(reply, receiver, tap, { filter, onFirst, stallMs, isOver: () => complete })
  const observed = { ...observedStream(tap), made: made.ids() }
  // Anything after the last event does not change the answer, and many clients disconnect there.
  if (end.kind === 'gone' && !complete) return answered(status, observed, clientGone(endingOf(receiver)))
  const reported = held === null ? tap.failed() : null
  const cut = complete ? null : endedEarly(provider)
  const broken = end.kind === 'broken' && !complete ? streamFailure(end.error, provider) : cut
  if (broken && held !== null) {
    return failed(broken, status, observed, { refused: refused && asShown(refused, context) })
  }
  receiver.end(broken && reported === null ? errorEvent('/messages', broken, requestId) : undefined)
  return answered(status, observed, reported ? upstreamFailure(reported, provider, { cancelled: false }) : broken)
}

/** Parses the event, since a text may contain the name of an event too. */
const isStop = (event: Buffer): boolean => eventData(event)?.type === MESSAGE_STOP

const asShown = (refused: WholeReply, context: ReplyContext): RefusedReply => ({
  ...refused,
  shown: refusal(refused, context).body,
})

/** An error as the first event of a stream, as the reply it would have been without streaming. */
function asRefusal({ headers }: StreamReply, event: { error?: unknown }): WholeReply {
  const { type } = isObject(event.error) ? event.error : {}
  const body = Buffer.from(JSON.stringify(event))
  return {
    kind: 'whole',
    status: statusOfType(type),
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  }
}
