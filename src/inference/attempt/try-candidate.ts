import { CODES, type GazewayError } from '../../errors.ts'
import type { Admission } from '../admit/admit.ts'
import { ReportedError } from '../api/reported-error.ts'
import type { BegunResponse } from '../convert/begun-response.ts'
import type { Changes } from '../convert/reported-changes.ts'
import { observedStream } from '../observe/observe.ts'
import { observedIn } from '../observe/observed-reply.ts'
import { createSseTap, type SseTap } from '../observe/sse-tap.ts'
import { type Answered, answered, type Failed, failed, type ReplyContext } from '../passages/passage.ts'
import { readRefusal } from '../passages/upstream-reply.ts'
import type { LateReceiver } from '../relay/abandoned-reads.ts'
import type { StreamReply, WholeReply } from '../relay/exchange.ts'
import type { Receiver } from '../relay/receiver.ts'
import { endingOf } from '../relay/send.ts'
import type { Candidate } from '../route/route.ts'
import { isUntold } from '../settle/abandoned-answer.ts'
import { beginCall, type SettleDeps, type Settled } from '../settle/settle.ts'
import { clientGone, refusal, upstreamFailure } from '../upstreams/failure.ts'
import type { Provider } from '../upstreams/provider.ts'
import { isRaceLost } from '../upstreams/race-lost.ts'
import { followInBackground } from './background-answer.ts'
import type { Selection } from './candidate-order.ts'
import type { PreparedRequest } from './prepare-request.ts'

/** Result of a call, for its caller. */
export interface Result extends Settled {
  /** Endpoint of the last attempt. */
  path: Candidate['path']
  /** Upstream of the last attempt. */
  provider: Provider
  /** Number of the attempt within the call, from 1. */
  attempt: number
  /** Model id at the upstream. Empty when no model is asked, or its default. */
  model: string
  /** Changes of the request on its way there. */
  changes: Changes
  /** Reason why the client has no complete answer; the first candidate's when several failed. */
  failure: GazewayError | null
}

/** Result of one attempt. */
export interface Attempt {
  selection: Selection
  passed: Answered | Failed
  result: Result
}

/** Context of an attempt: the receiver of its reply, and its number. */
export interface Turn {
  receiver: Receiver
  /** The receiver, when it reads on once the client has left. */
  late: LateReceiver | null
  /** Number of the attempt, from 1. */
  attempt: number
  /** Id of the first attempt. Undefined for the first itself. */
  fallbackFrom: string | undefined
  /** State of the stream that an earlier candidate began. Null when the client has received nothing. */
  begun: BegunResponse | null
  /** Called with the id of this attempt. */
  onCall?: ((callId: string) => void) | undefined
}

/** Sends the request to one candidate, passes its reply on, and records the call. */
export async function tryCandidate(
  deps: SettleDeps,
  call: Admission,
  selection: Selection,
  { model, sent: body, changes, reasoning, send, discarded }: PreparedRequest,
  { receiver, late, attempt, fallbackFrom, begun: continued, onCall }: Turn,
): Promise<Attempt> {
  const { request, needsText, context, bill } = call
  const { candidate, skipped } = selection
  const { path, passage } = candidate
  const { provider } = selection.relay
  const stream = request.json.stream === true
  const isRecorded = passage.answersHere === undefined && call.verbatim?.isRecorded !== false
  const invocation = {
    provider,
    path,
    model,
    stream,
    queueMs: attempt === 1 ? Math.round(call.waitedMs) : null,
    fallbackFrom,
    skipped,
    isRecorded,
    changes,
    bill,
    asked: request,
    request: body,
  }
  const begun = beginCall(deps, invocation, context)
  onCall?.(begun.callId)
  const replyContext: ReplyContext = {
    provider,
    receiver,
    asked: request.json,
    stream,
    needsText,
    requestId: context.requestId,
    callId: begun.callId,
    attempt,
    bill,
    model: model?.upstream ?? '',
    changes,
    reasoning,
    begun: continued,
    onFirst: begun.firstToken,
    times: begun.times,
  }
  let generationId: string | null = null
  const noted = async () => {
    const reply = await send()
    const id = reply.headers['x-generation-id']
    if (provider.generations !== null && typeof id === 'string') generationId = id
    return reply
  }
  const sent = await pass(replyContext, passage, late === null ? send : noted)
  late?.release()
  const paying = receiver.paid?.() ?? null
  const unpaid = paying && (await paying)
  const passed = unpaid === null ? sent : answered(sent.outcome.httpStatus ?? 200, sent.outcome, unpaid)
  const { httpStatus, usage, promptUsage, terms, generated, answer, made } = passed.outcome
  const error = late?.hasLeft() ? clientGone(endingOf(late)) : passed.outcome.error
  if (error) error.callId = begun.callId
  const isHad = passed.kind === 'answered' ? passed.isEmpty !== true : passed.begun !== null
  // Field by field, here and below: spreads take a twentieth of what a call costs in this process.
  const settling = begun.settle({
    httpStatus,
    error,
    usage,
    promptUsage,
    terms: terms ?? null,
    discarded,
    generated,
    answer,
    made,
    isHad,
    isUntold: late !== null && isUntold(passed.outcome, late),
    late,
    // The reply that the client gets does not wait until the provider states the cost of another.
    generationId: isRaceLost(error) ? null : generationId,
  })
  const settled = settling instanceof Promise ? await settling : settling
  const { callId } = begun
  followInBackground(deps, { relay: selection.relay, invocation, context, passed, settled })
  return {
    selection,
    passed,
    result: {
      callId,
      usage: settled.usage,
      costUsd: settled.costUsd,
      price: settled.price,
      priceFrom: settled.priceFrom,
      path,
      provider,
      attempt,
      model: model?.upstream ?? '',
      changes,
      failure: error,
    },
  }
}

async function pass(
  context: ReplyContext,
  passage: Candidate['passage'],
  send: () => Promise<WholeReply | StreamReply>,
): Promise<Answered | Failed> {
  const { provider, receiver, stream, times } = context
  let reply: WholeReply | StreamReply | undefined
  let tap: SseTap | undefined
  try {
    reply = await send()
    times.firstByte = reply.begunAt ?? null
    if (reply.kind === 'stream') {
      tap = createSseTap({ dropUsageChunk: passage.dropsUsage(context), secrets: provider.secrets, times })
      if (stream || passage.gather === undefined) return streamed(await passage.passStream(context, reply, tap))
      reply = await passage.gather(context, reply, tap)
    }
    if (reply.status >= 400 && passage.passesErrors !== true) return refusedWith(reply, context, passage)
    if (stream) receiver.watch?.(null)
    const passed = passage.passWhole(context, reply)
    return passed instanceof Promise ? await passed : passed
  } catch (error) {
    const failure = upstreamFailure(error, provider, endingOf(receiver))
    // It had begun to answer, unless it reports an error instead.
    if (reply && !(error instanceof ReportedError)) failure.upstreamStatus ??= reply.status
    const observed = tap ? observedStream(tap) : observedIn(reply)
    return failed(failure, reply?.status ?? null, observed)
  }
}

const streamed = (passed: Answered | Failed): Answered | Failed =>
  passed.kind === 'failed' ? { ...passed, isStreamed: true } : passed

function refusedWith(reply: WholeReply, context: ReplyContext, passage: Candidate['passage']): Failed {
  const { provider, requestId } = context
  const read = passage.refusal?.(reply, context) ?? readRefusal(reply, provider, requestId)
  const headers = read.headers ?? { ...reply.headers, 'content-type': 'application/json' }
  // A server that answers 500 for it would get the request a second time.
  const status = read.error.overflow === null ? reply.status : CODES.context_length_exceeded.status
  const refused = { ...reply, status, headers, shown: read.body }
  return failed(refusal(read.error, refused, provider), reply.status, observedIn(reply), { refused })
}
