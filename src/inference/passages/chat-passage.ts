import type { ChatCompletion } from '../api/requests.ts'
import { wantsUsage } from '../api/usage-request.ts'
import { completionChunks } from '../convert/completion-chunks.ts'
import { observedStream, observedWhole } from '../observe/observe.ts'
import type { SseTap } from '../observe/sse-tap.ts'
import type { StreamReply, WholeReply } from '../relay/exchange.ts'
import { pump } from '../relay/receiver.ts'
import { endingOf } from '../relay/send.ts'
import { clientGone, endedEarly, streamFailure, upstreamFailure } from '../upstreams/failure.ts'
import { gatherCompletion } from './gather.ts'
import { heldChunks } from './held-chunks.ts'
import { type Answered, answered, type Failed, failed, type Passage, type ReplyContext } from './passage.ts'
import { chatErrorEvent, passedHeaders, readCompletion } from './upstream-reply.ts'
import { splicedRequest } from './write-request.ts'

/**
 * Passes a chat completion through: the client's fields upstream, the upstream's bytes back. Usage is always requested;
 * its chunk is dropped when the client did not ask for it.
 */
export const chatPassage: Passage = {
  convert: (asked) => asked,
  write: splicedRequest,
  isReformed: true,
  dropsUsage: ({ stream, asked }) => stream && !wantsUsage(asked),
  gather: gatherCompletion,
  passWhole,
  passStream,
}

function passWhole(context: ReplyContext, reply: WholeReply): Answered {
  const { provider, receiver, stream, asked } = context
  const completion = readCompletion(reply, provider)
  const headers = passedHeaders(reply.headers, context)
  if (stream) {
    // Some providers never stream.
    const chunks = completionChunks(completion as ChatCompletion, { withUsage: wantsUsage(asked) })
    // Before the headers, so that a serialization error can still have a status.
    const events = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
    receiver.head(reply.status, { ...headers, 'content-type': 'text/event-stream' })
    receiver.end(`${events.join('')}data: [DONE]\n\n`)
  } else receiver.whole(reply.status, headers, reply.body)
  return answered(reply.status, observedWhole(completion, completion.choices))
}

/** Passes a stream on. While another candidate could answer, it begins with the first output and may fail before. */
async function passStream(context: ReplyContext, reply: StreamReply, tap: SseTap): Promise<Answered | Failed> {
  const { provider, receiver, requestId, onFirst } = context
  const { status } = reply
  const headers = passedHeaders(reply.headers, context)
  const begin = () => receiver.head(status, headers)
  const held = receiver.hold === undefined ? null : heldChunks(tap, begin)
  if (held === null) begin()
  else receiver.hold?.(status, headers)
  const filter = held?.filter ?? ((events: Buffer) => events)
  const end = await pump(reply, receiver, tap, { filter, onFirst, stallMs: provider.timeoutMs })
  const observed = observedStream(tap)
  const { done, finished } = tap.ending()
  if (end.kind === 'gone' && !done) return answered(status, observed, clientGone(endingOf(receiver)))
  const reported = tap.failed()
  const cut = done || finished ? null : endedEarly(provider)
  const broken = end.kind === 'broken' && !done ? streamFailure(end.error, provider) : cut
  const rest = held?.rest() ?? null
  if (rest !== null) {
    const failure = reported ? upstreamFailure(reported, provider, { cancelled: false }) : broken
    if (failure) return failed(failure, status, observed)
    // An empty answer.
    begin()
    receiver.write(rest)
  }
  if (reported !== null) {
    receiver.end()
    return answered(status, observed, upstreamFailure(reported, provider, { cancelled: false }))
  }
  // Some providers omit the last line that clients wait for. Anything after it does not change the answer, and many
  // clients disconnect there.
  if (broken) receiver.end(chatErrorEvent(broken, requestId))
  else receiver.end(done ? undefined : 'data: [DONE]\n\n')
  return answered(status, observed, broken)
}
