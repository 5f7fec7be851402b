import { isObject, parseJson } from '../../text/json.ts'
import { splitEvents } from '../../wire/whole-sse-events.ts'
import { isInMessages } from '../api/context-overflow.ts'
import { MESSAGE_STOP } from '../api/finish-reason.ts'
import { refusalInMessages, statusOfType } from '../api/message-error.ts'
import { reportedIn } from '../api/reported-error.ts'
import type { Message } from '../api/requests.ts'
import { withoutBilling } from '../convert/billing-line.ts'
import { messageEvents } from '../convert/message-events.ts'
import { withoutSealedBlocks } from '../convert/without-reasoning.ts'
import { eventData } from '../observe/event-data.ts'
import { madeByMessage, madeByStream } from '../observe/made-objects.ts'
import { observedStream, observedWhole } from '../observe/observe.ts'
import type { SseTap } from '../observe/sse-tap.ts'
import type { StreamReply, WholeReply } from '../relay/exchange.ts'
import { badReply, hideSecrets } from '../upstreams/failure.ts'
import type { Provider } from '../upstreams/provider.ts'
import { errorEvent } from './error-event.ts'
import { watchMessageBlocks } from './message-blocks.ts'
import { watchMessageCalls } from './message-calls.ts'
import { watchMessageFrames } from './message-frames.ts'
import {
  type Answered,
  answered,
  type Conversion,
  type Failed,
  failed,
  type Passage,
  type RefusedReply,
  type ReplyContext,
} from './passage.ts'
import { readableMessage } from './readable-message.ts'
import { endError, relayStream, reportedError, sendAnswer } from './relay-stream.ts'
import { isMessageOutput, startMessage } from './started-message.ts'
import { bodyText, passedHeaders, type Refusal, readRefusal, toSse } from './upstream-reply.ts'
import { gatherMessage } from './whole-from-stream.ts'
import { splicedRequest } from './write-request.ts'

/**
 * Passes a Messages request through to an upstream that speaks Messages. Body, errors and events are unchanged, since
 * clients react to their wording.
 */
export const messagePassage: Passage = {
  convert: forProvider,
  write: splicedRequest,
  isReformed: true,
  dropsUsage: () => false,
  gather: gatherMessage,
  passWhole,
  passStream,
  refusal,
}

/** Takes out what Gazeway sealed, on its way through another upstream, and what Claude Code says to Anthropic alone. */
export function forProvider(asked: object, { note, reasoning, isAnthropic }: Conversion): object {
  const unsealed = reasoning.mayBring() ? withoutSealedBlocks(asked, note) : asked
  return isAnthropic ? unsealed : withoutBilling(unsealed)
}

/**
 * The upstream's own error body, with the gateway's key removed. Servers of other makers tell in their own words that a
 * context window is exceeded.
 */
function refusal(reply: WholeReply, { provider, requestId }: ReplyContext): Refusal {
  const { error } = readRefusal(reply, provider, requestId)
  const isForeign = error.overflow !== null && !isInMessages(error.reason)
  if (isForeign) return { body: JSON.stringify(refusalInMessages(error, reply.status, requestId)), error }
  return { body: hideSecrets(bodyText(reply), provider.secrets), error }
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

function passWhole(context: ReplyContext, reply: WholeReply): Answered | Failed {
  const { provider, stream, asked } = context
  const given = readMessage(reply, provider)
  const { message, fault } = readableMessage(given, asked.tools)
  if (fault !== null) return failed(badReply(provider, fault), reply.status, observedWhole(given, given.content))
  const body = message === given ? reply.body : Buffer.from(JSON.stringify(message))
  const content = stream ? toSse(messageEvents(message)) : body
  sendAnswer(context, reply.status, passedHeaders(reply.headers, context), content)
  return answered(reply.status, { made: madeByMessage(message, asked), ...observedWhole(message, message.content) })
}

async function passStream(context: ReplyContext, reply: StreamReply, tap: SseTap): Promise<Answered | Failed> {
  const { receiver, requestId } = context
  const { status } = reply
  const held = startMessage(context, status, passedHeaders(reply.headers, context))
  let complete = false
  let refused: WholeReply | null = null
  const made = madeByStream(context.asked)
  const frames = watchMessageFrames(tap)
  const blocks = watchMessageBlocks()
  const calls = watchMessageCalls(context)

  function filter(given: Buffer): Buffer | null {
    const events = calls.read(blocks.read(frames.read(given)))
    complete ||= events.includes(MESSAGE_STOP) && splitEvents(events).some(isStop)
    made.read(events)
    if (!held.isHeld()) return events
    const data = splitEvents(events).flatMap((event) => eventData(event) ?? [])
    const reported = tap.failed()
    if (reported !== null) {
      refused = asRefusal(reply, data.find(({ type }) => type === 'error') ?? {})
      throw reported
    }
    return held.add(events, data.some(isMessageOutput))
  }

  const end = await relayStream(context, reply, tap, filter, () => complete)
  const isEnded = end.kind === 'complete' || end.kind === 'silent'
  const rest = isEnded && !complete && tap.failed() === null ? frames.rest() : []
  complete ||= rest.length > 0
  const observed = { made: made.ids(), ...observedStream(tap) }
  const broken = endError(end, context, complete)
  if (broken && end.kind === 'gone') return answered(status, observed, broken)
  if (broken && held.isHeld())
    return failed(broken, status, observed, { refused: refused && asShown(refused, context) })
  const reported = held.isHeld() ? null : reportedError(tap, context)
  receiver.end(broken && reported === null ? errorEvent('/messages', broken, requestId) : rest[0])
  return answered(status, observed, reported ?? broken)
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
