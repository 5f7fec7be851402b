import { readUsage } from '../../providers/token-usage.ts'
import { isObject, parseJson } from '../../text/json.ts'
import { splitEvents } from '../../wire/whole-events.ts'
import { messageEvents } from '../convert/message-events.ts'
import type { Message } from '../convert/requests.ts'
import { badReply, clientGone, endedEarly, hideSecrets, streamFailure, upstreamFailure } from '../failure.ts'
import { MESSAGE_STOP } from '../finish-reason.ts'
import { observedStream, observedWhole } from '../observe.ts'
import type { Provider } from '../provider.ts'
import { reportedIn } from '../reported-error.ts'
import { errorEvent } from './error-event.ts'
import { gatherMessage } from './gather.ts'
import { statusOfType } from './message-error.ts'
import { type Answered, answered, type Failed, failed, type Passage, type Passing } from './passing.ts'
import { pump } from './receiver.ts'
import { endingOf, type StreamReply, type WholeReply } from './send.ts'
import { eventData, type SseTap } from './sse-tap.ts'
import { bodyText, passedHeaders, type Refusal, readRefusal, toSse } from './upstream-reply.ts'

/** Events that come before a model says anything; a stream that fails among them has not begun for its client. */
const BEFORE_OUTPUT: ReadonlySet<unknown> = new Set(['message_start', 'ping'])
/** What may come before the first output: the beginning of the Message, and pings. */
const HELD_LIMIT_BYTES = 1024 * 1024

/**
 * Passes a Messages request through to an upstream that speaks the same: body, errors and events stay as they are, for
 * clients recover by their wording.
 */
export const passMessage: Passage = {
  convert: (asked) => asked,
  keepsBytes: true,
  dropsUsage: () => false,
  gather: gatherMessage,
  passWhole,
  passStream,
  refusal,
}

/** The upstream's own body, without the gateway's key, should it repeat that. */
function refusal(reply: WholeReply, { provider, requestId }: Passing): Refusal {
  return { body: hideSecrets(bodyText(reply), provider.secrets), error: readRefusal(reply, provider, requestId).error }
}

/** @throws ReportedError where it holds an error; GazewayError `upstream_bad_reply` where it is no Message */
export function readMessage(reply: WholeReply, provider: Provider): Message {
  const value = parseJson(bodyText(reply))
  const reported = reportedIn(value)
  if (reported) throw reported
  if (isObject(value) && Array.isArray(value.content)) return value as unknown as Message
  throw badReply(provider, 'its reply is not a message')
}

function passWhole(passing: Passing, reply: WholeReply): Answered {
  const { provider, receiver, stream } = passing
  const message = readMessage(reply, provider)
  const headers = passedHeaders(reply.headers, passing)
  if (stream) {
    // Before the head: what cannot be written is an error with a status of its own.
    const events = toSse(messageEvents(message))
    receiver.head(reply.status, { ...headers, 'content-type': 'text/event-stream' })
    receiver.end(events)
  } else receiver.whole(reply.status, headers, reply.body)
  return answered(reply.status, observedWhole(readUsage(message.usage), message.content, message))
}

async function passStream(passing: Passing, reply: StreamReply, tap: SseTap): Promise<Answered | Failed> {
  const { provider, receiver, requestId, onFirst } = passing
  const { status } = reply
  const headers = passedHeaders(reply.headers, passing)
  let held: Buffer[] | null = []
  let heldBytes = 0
  let complete = false
  let refused: WholeReply | null = null
  receiver.hold?.(status, headers)

  function filter(events: Buffer): Buffer | null {
    complete ||= events.includes(MESSAGE_STOP) && splitEvents(events).some(isStop)
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
    if (heldBytes > HELD_LIMIT_BYTES) throw new Error('Too much came before its first output.')
    if (!isOutput) return null
    receiver.head(status, headers)
    const whole = Buffer.concat(held)
    held = null
    return whole
  }

  const stallMs = provider.timeoutMs
  const end = await pump(reply, receiver, tap, { filter, onFirst, stallMs, isOver: () => complete })
  const observed = observedStream(tap)
  // Whatever comes after the last event changes nothing about the answer; many clients leave at it.
  if (end.kind === 'gone' && !complete) return answered(status, observed, clientGone(endingOf(receiver)))
  const reported = held === null ? tap.failed() : null
  const cut = complete ? null : endedEarly(provider)
  const broken = end.kind === 'broken' && !complete ? streamFailure(end.error, provider) : cut
  if (broken && held !== null) {
    const told = refused && refusal(refused, passing).body
    return failed(broken, status, observed, { refused, told })
  }
  receiver.end(broken && reported === null ? errorEvent('/messages', broken, requestId) : undefined)
  return answered(status, observed, reported ? upstreamFailure(reported, provider, { cancelled: false }) : broken)
}

/** A text may hold the name of an event, too. */
const isStop = (event: Buffer): boolean => eventData(event)?.type === MESSAGE_STOP

/** An error that came as the first event of a stream, as the reply that it would have been without one. */
function asRefusal({ headers }: StreamReply, event: { error?: unknown }): WholeReply {
  const { type } = isObject(event.error) ? event.error : {}
  return { kind: 'whole', status: statusOfType(type), headers, body: Buffer.from(JSON.stringify(event)) }
}
