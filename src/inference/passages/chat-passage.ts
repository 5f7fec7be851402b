import { fieldsOrNone } from '../../text/lenient-reader.ts'
import { knownFinish, withKnownFinishes } from '../api/finish-reason.ts'
import type { ChatCompletion } from '../api/requests.ts'
import { wantsUsage } from '../api/usage-request.ts'
import { completionChunks } from '../convert/completion-chunks.ts'
import { observedStream, observedWhole } from '../observe/observe.ts'
import type { SseTap } from '../observe/sse-tap.ts'
import type { StreamReply, WholeReply } from '../relay/exchange.ts'
import { badReply } from '../upstreams/failure.ts'
import { watchChatCalls } from './chat-calls.ts'
import { keepReasoning, watchReasoning, withKept, withoutBlocks } from './chat-reasoning.ts'
import { completionFault } from './completion-fault.ts'
import { fromFirstOutput, holdBeginning } from './held-beginning.ts'
import { type Answered, answered, type Failed, failed, type Passage, type ReplyContext } from './passage.ts'
import { readableCompletion } from './readable-completion.ts'
import { endError, relayStream, reportedError, sendAnswer } from './relay-stream.ts'
import { chatErrorEvent, passedHeaders, readCompletion } from './upstream-reply.ts'
import { gatherCompletion } from './whole-from-stream.ts'
import { splicedRequest } from './write-request.ts'

/**
 * Passes a chat completion through: the client's fields upstream, the upstream's bytes back. Usage is always requested;
 * its chunk is dropped when the client did not ask for it.
 */
export const chatPassage: Passage = {
  convert: withKept,
  write: splicedRequest,
  isReformed: true,
  dropsUsage: ({ stream, asked }) => stream && !wantsUsage(asked),
  gather: gatherCompletion,
  passWhole,
  passStream,
}

function passWhole(context: ReplyContext, reply: WholeReply): Answered | Failed {
  const { provider, stream, asked } = context
  const given = readCompletion(reply, provider)
  const fault = completionFault(given, asked.tools)
  if (fault !== null) return failed(badReply(provider, fault), reply.status, observedWhole(given, given.choices))
  const read = readableCompletion(given, asked.tools)
  keepReasoning(fieldsOrNone(read.choices[0]).message, context)
  const isConverted = provider.protocol === 'anthropic'
  const completion = isConverted ? withoutBlocks(read) : read
  const isChanged = isConverted || read !== given
  const body = isChanged ? Buffer.from(JSON.stringify(completion)) : reply.body
  const named = isConverted ? body : withNames(body, read.choices)
  const content = stream ? eventsOf(completion as ChatCompletion, wantsUsage(asked)) : named
  sendAnswer(context, reply.status, passedHeaders(reply.headers, context), content)
  return answered(reply.status, observedWhole(completion, completion.choices))
}

/** The body, with OpenAI's names of its finish reasons. */
function withNames(body: Buffer, choices: unknown[]): Buffer {
  const isKnown = choices.every((choice) => isKnownFinish(fieldsOrNone(choice).finish_reason))
  return isKnown ? body : Buffer.from(withKnownFinishes(body.toString('utf8')))
}

const isKnownFinish = (finish: unknown): boolean => typeof finish !== 'string' || knownFinish(finish) === finish

function eventsOf(completion: ChatCompletion, withUsage: boolean): string {
  const events = completionChunks(completion, { withUsage }).map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
  return `${withKnownFinishes(events.join(''))}data: [DONE]\n\n`
}

function withNamesIn(events: Buffer): Buffer {
  const text = events.toString('utf8')
  const named = withKnownFinishes(text)
  return named === text ? events : Buffer.from(named)
}

/** Passes a stream on. While another candidate could answer, it begins with the first output and may fail before. */
async function passStream(context: ReplyContext, reply: StreamReply, tap: SseTap): Promise<Answered | Failed> {
  const { receiver, requestId } = context
  const { status } = reply
  const held = holdBeginning(context, status, passedHeaders(reply.headers, context))
  if (receiver.isSole !== false) held.release()
  const reasoning = watchReasoning(context, tap)
  const calls = watchChatCalls(context, tap)
  const fromOutput = fromFirstOutput(held, tap)
  const end = await relayStream(context, reply, tap, (events) => {
    const { finished } = tap.ending()
    const passed = reasoning.read(calls.read(events))
    // Before the client has the end of the answer, and sends its next request.
    if (finished) reasoning.keep()
    return passed && fromOutput(finished ? withNamesIn(passed) : passed)
  })
  const observed = observedStream(tap)
  const { finished } = tap.ending()
  // Calls that nobody may run may be found in the events with its end.
  const done = tap.ending().done && end.kind !== 'broken'
  const broken = endError(end, context, done, finished)
  if (broken && end.kind === 'gone') return answered(status, observed, broken)
  const reported = reportedError(tap, context)
  if (held.isHeld()) {
    const failure = reported ?? broken
    if (failure) return failed(failure, status, observed)
    // An empty answer.
    receiver.write(held.release())
  }
  // Some providers omit the last line that clients wait for.
  const ending = done ? undefined : 'data: [DONE]\n\n'
  if (reported) receiver.end()
  else receiver.end(broken ? chatErrorEvent(broken, requestId) : ending)
  return answered(status, observed, reported ?? broken)
}
