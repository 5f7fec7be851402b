import { endedEarly, streamFailure } from '../failure.ts'
import { joinChunks } from '../join-chunks.ts'
import type { Recording } from '../recording.ts'
import { streamedOutput } from '../streamed-output.ts'
import { pump, type Receiver } from './receiver.ts'
import type { Relay } from './relay.ts'
import { CLIENT_GONE, type StreamReply, tooLarge, WHOLE_LIMIT_BYTES, type WholeReply } from './send.ts'
import { type EventData, eventData, type SseTap } from './sse-tap.ts'
import { splitEvents } from './whole-events.ts'

/** A stream that was not asked for: some providers stream whatever they were asked for. */
export interface Unasked {
  reply: StreamReply
  tap: SseTap
  receiver: Receiver
  recording: Recording
}

/**
 * Gathers the chunks of a chat stream that was not asked for.
 *
 * @returns the completion that would have come in one piece
 * @throws whatever its upstream reported in it or failed with; GazewayError `upstream_bad_reply` where it ends too early
 *   or is too large, and CLIENT_GONE
 */
export async function gatherCompletion(relay: Relay, unasked: Unasked): Promise<WholeReply> {
  const { tap } = unasked
  const joined = joinChunks()
  let isEmpty = true
  const take = (data: EventData) => {
    joined.push(data)
    isEmpty = false
  }
  await gather(relay, unasked, take)
  const { done, finished } = tap.ending()
  // Some providers only say that the stream is over.
  if (done && !finished && !isEmpty) joined.push({ choices: [{ index: 0, finish_reason: 'stop' }] })
  return asWhole(unasked.reply, joined.completion())
}

/** Gathers the events of a Responses stream that was not asked for. @returns its Response @throws as `gatherCompletion` */
export async function gatherResponse(relay: Relay, unasked: Unasked): Promise<WholeReply> {
  let last: EventData['response']
  const output = streamedOutput()
  const take = (data: EventData) => {
    const { type, response } = data
    output.push(data)
    if (type === 'response.completed' || type === 'response.incomplete') last = response
  }
  await gather(relay, unasked, take, () => last !== undefined)
  if (!last) throw endedEarly(relay.provider)
  return asWhole(unasked.reply, output.complete(last))
}

async function gather(
  { provider }: Relay,
  { reply, tap, receiver, recording }: Unasked,
  take: (data: EventData) => void,
  isOver?: () => boolean,
): Promise<void> {
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
  const end = await pump(reply, receiver, tap, {
    filter,
    onFirst: recording.firstToken,
    stallMs: provider.timeoutMs,
    isOver,
  })
  if (end.kind === 'gone') throw CLIENT_GONE
  if (end.kind === 'broken') throw streamFailure(end.error, provider)
}

function asWhole({ status, headers }: StreamReply, value: object): WholeReply {
  const body = Buffer.from(JSON.stringify(value))
  return { kind: 'whole', status, headers: { ...headers, 'content-type': 'application/json' }, body }
}
