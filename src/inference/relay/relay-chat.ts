import type { CallContext } from '../../calls/call-record.ts'
import type { GazewayError } from '../../errors.ts'
import { readUsage } from '../../providers/usage.ts'
import type { ChatCompletion } from '../chat.ts'
import { completionChunks } from '../convert/completion-chunks.ts'
import { endedEarly, streamFailure, upstreamFailure } from '../failure.ts'
import { modelFor } from '../model-for.ts'
import { startRecording } from '../recording.ts'
import { reportedUsage } from '../reported-error.ts'
import { gatherCompletion } from './gather.ts'
import type { Passing } from './passing.ts'
import { pump, type Receiver } from './receiver.ts'
import type { Relay } from './relay.ts'
import { chatErrorEvent, passedHeaders, readCompletion, readRefusal } from './reply.ts'
import { type ClientRequest, requestBody } from './request-body.ts'
import type { StreamReply, WholeReply } from './send.ts'
import { createSseTap, type SseTap } from './sse-tap.ts'
import { countUsage, streamOutcome } from './stream-outcome.ts'
import { orWithoutUsage } from './without-usage.ts'

/** A chat completion request as its client wrote it; what Gazeway does not know is passed on. */
export interface ChatBody {
  model?: string | null | undefined
  stream?: boolean | null | undefined
  stream_options?: { include_usage?: boolean | undefined } | null | undefined
  /** OpenRouter's own way to ask for usage. */
  usage?: { include?: unknown } | null | undefined
  [field: string]: unknown
}

/**
 * Passes a chat completion through: the client's fields upstream with the model's alias resolved, the upstream's bytes
 * back as they come. Usage is asked for even where the client did not; the chunk that then reports it stays here. An
 * upstream that refuses to be asked for it is not, where the client did not ask either.
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
  const found = modelFor(relay, body.model ?? undefined, 'chat', context)
  const model = found instanceof Promise ? await found : found
  const stream = body.stream === true
  const usageWanted = body.stream_options?.include_usage === true || body.usage?.include === true
  const { stream_options: own } = body
  const plain = { model: model.upstream }
  const sent = { ...body, ...plain }
  const asksForUsage = stream && (Boolean(own) || provider.usageRequests.fits(model.upstream))
  const changes = asksForUsage ? { ...plain, stream_options: { ...own, include_usage: true } } : plain
  const written = requestBody(request, { ...sent, ...changes }, changes)
  const bytes = written instanceof Promise ? await written : written
  const open = (asked: string | Buffer) =>
    relay.open('/chat/completions', { body: asked, stream, via: context.via }, receiver)
  const recording = startRecording(relay, { path: '/chat/completions', model, stream, request: sent }, context)
  const passing: Passing = { relay, receiver, stream, requestId: context.requestId, sent, recording }
  let reply: WholeReply | StreamReply | undefined
  let tap: SseTap | undefined
  try {
    reply = await open(bytes)
    if (asksForUsage && !own && reply.kind === 'whole')
      reply = await orWithoutUsage(reply, provider, model.upstream, async () =>
        open(await requestBody(request, sent, plain)),
      )
    if (reply.kind === 'stream') {
      tap = createSseTap({ dropUsageChunk: stream && !usageWanted, secrets: provider.secrets })
      if (stream) return await relayStream(passing, reply, tap)
      reply = await gatherCompletion(passing, reply, tap)
    }
    if (reply.status >= 400) return passRefusal(passing, reply)
    const completion = readCompletion(reply, provider)
    const headers = passedHeaders(reply.headers, recording.callId, provider)
    if (stream) passAsStream(receiver, reply.status, headers, completion as ChatCompletion, usageWanted)
    else receiver.whole(reply.status, headers, reply.body)
    const usage = readUsage(completion.usage) ?? (await countUsage(relay, sent, completion.choices))
    recording.finish({ status: 'ok', httpStatus: reply.status, error: null, usage, answer: completion })
  } catch (error) {
    const failure = upstreamFailure(error, provider, { cancelled: receiver.isGone() })
    const status = failure.code === 'cancelled' ? 'aborted' : 'error'
    const outcome = tap ? await streamOutcome(passing, tap) : { usage: reportedUsage(error), answer: null }
    recording.finish({ status, httpStatus: reply?.status ?? null, error: failure, ...outcome })
    failure.callId = recording.callId
    throw failure
  }
}

function passRefusal({ relay, receiver, requestId, recording }: Passing, reply: WholeReply): void {
  const { status: httpStatus } = reply
  const { body, error } = readRefusal(reply, relay.provider, requestId)
  const headers = passedHeaders(reply.headers, recording.callId, relay.provider)
  receiver.whole(httpStatus, { ...headers, 'content-type': 'application/json' }, body)
  recording.finish({ status: 'error', httpStatus, error, usage: null, answer: null })
}

/** Gives a client that asked for a stream a completion that came whole: some providers never stream. */
function passAsStream(
  receiver: Receiver,
  status: number,
  headers: Record<string, string>,
  completion: ChatCompletion,
  withUsage: boolean,
): void {
  const chunks = completionChunks(completion, { withUsage }).map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
  receiver.head(status, { ...headers, 'content-type': 'text/event-stream' })
  receiver.end(`${chunks.join('')}data: [DONE]\n\n`)
}

async function relayStream(passing: Passing, reply: StreamReply, tap: SseTap): Promise<void> {
  const { receiver, requestId, recording } = passing
  const { provider } = passing.relay
  receiver.head(reply.status, passedHeaders(reply.headers, recording.callId, provider))
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
    return done || finished ? null : endedEarly(provider)
  }
  async function finish(status: 'ok' | 'error' | 'aborted', error: Error | string | null): Promise<void> {
    recording.finish({ status, httpStatus: reply.status, error, ...(await streamOutcome(passing, tap)) })
  }
}
