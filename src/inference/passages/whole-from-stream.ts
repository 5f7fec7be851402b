import { splitEvents } from '../../wire/whole-sse-events.ts'
import { isAnswerEnd } from '../api/finish-reason.ts'
import { joinMessage } from '../convert/message-events.ts'
import { type EventData, eventData } from '../observe/event-data.ts'
import { joinChunks } from '../observe/join-chunks.ts'
import type { SseTap } from '../observe/sse-tap.ts'
import { streamedOutput } from '../observe/streamed-output.ts'
import type { StreamReply, WholeReply } from '../relay/exchange.ts'
import { CLIENT_GONE, tooLarge, WHOLE_LIMIT_BYTES } from '../relay/send.ts'
import { endedEarly, streamFailure } from '../upstreams/failure.ts'
import type { ReplyContext } from './passage.ts'
import { relayStream } from './relay-stream.ts'

/**
 * Assembles a whole chat completion from a stream, when the request did not ask for one: some providers always stream.
 *
 * @returns the whole completion
 * @throws the error that the upstream reported or failed with; GazewayError `upstream_bad_reply` when the stream ends
 *   early or is too large, and CLIENT_GONE
 */
export async function gatherCompletion(context: ReplyContext, reply: StreamReply, tap: SseTap): Promise<WholeReply> {
  const joined = joinChunks()
  await gather(context, reply, tap, { take: joined.push })
  // Some providers only signal the end of the stream.
  if (!joined.isFinished() && !(tap.ending().done && joined.isBegun())) throw endedEarly(context.provider)
  return asWhole(reply, joined.completion())
}

/**
 * Assembles a whole Response from a stream, when the request did not ask for one.
 *
 * @returns the Response
 * @throws as `gatherCompletion`
 */
export async function gatherResponse(context: ReplyContext, reply: StreamReply, tap: SseTap): Promise<WholeReply> {
  let last: EventData['response']
  const output = streamedOutput()
  const take = (data: EventData) => {
    const { type, response } = data
    output.push(data)
    if (isAnswerEnd(type)) last = response
  }
  await gather(context, reply, tap, { take, isOver: () => last !== undefined })
  if (!last) throw endedEarly(context.provider)
  return asWhole(reply, output.complete(last))
}

/**
 * Assembles a whole Message from a stream, when the request did not ask for one.
 *
 * @returns the Message
 * @throws as `gatherCompletion`
 */
export async function gatherMessage(context: ReplyContext, reply: StreamReply, tap: SseTap): Promise<WholeReply> {
  const joined = joinMessage()
  await gather(context, reply, tap, { take: joined.push, isOver: joined.isOver })
  const message = joined.message()
  if (message === null) throw endedEarly(context.provider)
  return asWhole(reply, message)
}

async function gather(
  context: ReplyContext,
  reply: StreamReply,
  tap: SseTap,
  { take, isOver }: { take: (data: EventData) => void; isOver?: () => boolean },
): Promise<void> {
  const { provider } = context
  let size = 0
  function filter(events: Buffer): null {
    size += events.length
    if (size > WHOLE_LIMIT_BYTES) throw tooLarge(provider)
    const reported = tap.failed()
    if (reported !== null) throw reported
    for (const event of splitEvents(events)) {
      const data = eventData(event)
      if (data) take(data)
    }
    return null
  }
  const end = await relayStream(context, reply, tap, filter, isOver)
  if (end.kind === 'gone') throw CLIENT_GONE
  if (end.kind === 'broken') throw streamFailure(end.error, provider)
}

function asWhole({ status, headers }: StreamReply, value: object): WholeReply {
  const body = Buffer.from(JSON.stringify(value))
  return { kind: 'whole', status, headers: { ...headers, 'content-type': 'application/json' }, body }
}
