import type { GazewayError } from '../../errors.ts'
import type { CallContext } from '../call-record.ts'
import { estimateUsage } from '../estimate.ts'
import { badReply, streamFailure, upstreamFailure } from '../failure.ts'
import { type Recording, startRecording } from '../recording.ts'
import { readUsage } from '../usage.ts'
import { pump, type Receiver } from './receiver.ts'
import type { Relay } from './relay.ts'
import { chatErrorEvent, passedHeaders, readRefusal, unfitness } from './reply.ts'
import { type ClientRequest, requestText } from './request-text.ts'
import type { StreamReply, WholeReply } from './send.ts'
import { createSseTap, type SseTap } from './sse-tap.ts'
import { streamOutcome } from './stream-outcome.ts'

/** A chat completion request as its client wrote it; what Gazeway does not know is passed on. */
export interface ChatBody {
  model?: string | null | undefined
  stream?: boolean | null | undefined
  stream_options?: { include_usage?: boolean | undefined } | null | undefined
  [field: string]: unknown
}

/**
 * Passes a chat completion through: the client's fields upstream with the model's alias resolved, the upstream's bytes
 * back as they come. Usage is asked for even where the client did not; the chunk that then reports it stays here.
 *
 * Usage in the record, by how the call ended: as reported where it was (the last report, when a provider sends one with
 * every chunk); otherwise counted and marked `estimated` — from the whole answer when it finished, from what had arrived
 * when the client went away or the upstream broke off; none when nothing had arrived or the upstream refused.
 *
 * @returns when the reply is over and recorded
 * @throws GazewayError before the first byte of the reply; after it, the stream itself ends with an error chunk
 */
export async function relayChat(
  relay: Relay,
  request: ClientRequest<ChatBody>,
  receiver: Receiver,
  context: CallContext & { requestId: string | null },
): Promise<void> {
  const { provider } = relay
  const { json: body } = request
  provider.requireKey()
  const model = provider.resolve(body.model ?? undefined, 'chat')
  const stream = body.stream === true
  const usageWanted = body.stream_options?.include_usage === true
  const changes = stream
    ? { model: model.upstream, stream_options: { ...body.stream_options, include_usage: true } }
    : { model: model.upstream }
  const sent = { ...body, ...changes }
  const written = requestText(request.text, sent, changes)
  const text = typeof written === 'string' ? written : await written
  const recording = startRecording(relay, { path: '/chat/completions', model, stream, request: sent }, context)
  let reply: WholeReply | StreamReply | undefined
  try {
    reply = await relay.open('/chat/completions', text, receiver)
    if (reply.kind === 'stream') {
      const tap = createSseTap({ dropUsageChunk: !usageWanted, secrets: provider.secrets })
      await relayStream(relay, reply, tap, receiver, recording, sent, context.requestId)
    } else {
      const completion = passWhole(relay, reply, receiver, recording, context.requestId)
      if (completion === null) return
      const usage =
        readUsage(completion.usage) ??
        (await estimateUsage(relay.countTokens, sent, JSON.stringify(completion.choices)))
      recording.finish({ status: 'ok', httpStatus: reply.status, error: null, usage, answer: completion })
    }
  } catch (error) {
    const failure = upstreamFailure(error, provider, { cancelled: receiver.isGone() })
    const status = failure.code === 'cancelled' ? 'aborted' : 'error'
    recording.finish({ status, httpStatus: reply?.status ?? null, error: failure, usage: null, answer: null })
    failure.callId = recording.callId
    throw failure
  }
}

/** Passes on a reply that is no stream. @returns the completion that it is; null for a refusal, which is recorded then */
function passWhole(
  relay: Relay,
  reply: WholeReply,
  receiver: Receiver,
  recording: Recording,
  requestId: string | null,
): Completion | null {
  const { status: httpStatus } = reply
  const unfit = unfitness(reply)
  if (unfit) throw badReply(relay.provider, unfit)
  const headers = passedHeaders(reply.headers, recording.callId)
  if (httpStatus >= 400) {
    const { body, error } = readRefusal(reply, relay.provider, requestId)
    receiver.whole(httpStatus, { ...headers, 'content-type': 'application/json' }, body)
    recording.finish({ status: 'error', httpStatus, error, usage: null, answer: null })
    return null
  }
  const completion = readCompletion(reply.body)
  if (!completion) throw badReply(relay.provider, 'its reply is not a chat completion')
  receiver.whole(httpStatus, headers, reply.body)
  return completion
}

async function relayStream(
  relay: Relay,
  reply: StreamReply,
  tap: SseTap,
  receiver: Receiver,
  recording: Recording,
  sent: unknown,
  requestId: string | null,
): Promise<void> {
  const { provider } = relay
  receiver.head(reply.status, passedHeaders(reply.headers, recording.callId))
  const end = await pump(reply, receiver, tap, {
    filter: (events) => events,
    onFirst: recording.firstToken,
    stallMs: provider.timeoutMs,
  })
  const { done, finished } = tap.ending()
  // Whatever comes after the last line changes nothing about the answer; many clients leave at it.
  const broken = end.kind === 'broken' && !done ? streamFailure(end.error, provider) : cut()
  if (end.kind === 'gone' && !done) {
    await finish('aborted', 'The client went away before the end of the stream.')
    return
  }
  const reported = tap.failed()
  if (reported !== null) {
    receiver.end()
    await finish('error', reported)
    return
  }
  if (broken) {
    receiver.end(chatErrorEvent(broken, requestId))
    await finish('error', broken)
    return
  }
  // Some providers leave out the last line that clients wait for.
  receiver.end(done ? undefined : 'data: [DONE]\n\n')
  await finish('ok', null)

  function cut(): GazewayError | null {
    return done || finished ? null : badReply(provider, 'its stream ended before the answer was complete')
  }
  async function finish(status: 'ok' | 'error' | 'aborted', error: Error | string | null): Promise<void> {
    recording.finish({ status, httpStatus: reply.status, error, ...(await streamOutcome(relay, tap, sent)) })
  }
}

/** A chat completion, as far as it is read here. */
interface Completion {
  choices: unknown[]
  usage?: unknown
}

/** @returns null when the bytes are no chat completion */
function readCompletion(bytes: Buffer): Completion | null {
  try {
    const value = JSON.parse(bytes.toString('utf8'))
    return Array.isArray(value?.choices) ? value : null
  } catch {
    return null
  }
}
