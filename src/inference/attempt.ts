import type { GazewayError } from '../errors.ts'
import type { Admission } from './admit.ts'
import { ask } from './ask.ts'
import { refusal, upstreamFailure } from './failure.ts'
import { NOTHING, observedStream } from './observe.ts'
import { errorEvent } from './relay/error-event.ts'
import { heldReceiver } from './relay/held-receiver.ts'
import { type Answered, type Failed, failed, type Passing } from './relay/passing.ts'
import type { Receiver } from './relay/receiver.ts'
import { endingOf, type StreamReply, type WholeReply } from './relay/send.ts'
import { createSseTap, type SseTap } from './relay/sse-tap.ts'
import { passedHeaders, readRefusal } from './relay/upstream-reply.ts'
import { reportedUsage } from './reported-error.ts'
import { refusedBy } from './request-form.ts'
import { isEnded, isFallbackTried } from './retry.ts'
import type { Candidate } from './route.ts'
import { beginCall, type SettleDeps, type Settled } from './settle.ts'

/** What a call came to, for whoever made it. */
export interface Result extends Settled {
  /** The endpoint that was asked last. */
  path: Candidate['path']
  /** The upstream's id of the model that was asked. */
  model: string
  /** Why the client has no whole answer; the first candidate's reason where several failed. */
  failure: GazewayError | null
}

/** What one candidate made of a call. */
interface Attempt {
  passed: Answered | Failed
  result: Result
}

/**
 * The third step of a call: asks one candidate after another until one answers, and passes its reply on as it comes. Each
 * attempt is settled by itself; the later ones name the first as `fallback_from`.
 *
 * @returns when the reply is over and recorded
 * @throws GazewayError where no candidate answered, before the first byte of a reply; after it, the stream itself ends
 *   with an error
 */
export async function attempt(
  deps: SettleDeps,
  call: Admission,
  candidates: readonly Candidate[],
  receiver: Receiver,
): Promise<Result> {
  const [first, ...others] = candidates as [Candidate, ...Candidate[]]
  const stream = call.request.json.stream === true
  const held = stream && others.length > 0 ? heldReceiver(receiver, first.relay.heartbeat) : null
  try {
    const tried = await tryOne(deps, call, first, held ?? receiver, null)
    const { passed: failure } = tried
    if (failure.kind === 'answered') return tried.result
    for (const candidate of others) {
      if (!isFallbackTried(failure.outcome.error, call.request.json)) break
      const { passed, result } = await tryOne(deps, call, candidate, held ?? receiver, tried)
      const { error } = passed.outcome
      if (error && isEnded(error)) return end(passed, result)
      if (passed.kind === 'answered') return { ...result, failure: error && failure.outcome.error }
    }
    return end(failure, tried.result)
  } finally {
    held?.release()
  }

  function end(passed: Answered | Failed, result: Result): Result {
    if (passed.kind === 'answered') return result
    if (held?.isBegun()) tellInStream(passed, held, call)
    else tell(passed, receiver, call, result.callId, deps)
    return result
  }
}

/** Answers with the failure. @throws its error, unless it is a refusal of the upstream's */
function tell(
  { refused, told, outcome: { error } }: Failed,
  receiver: Receiver,
  { context }: Admission,
  callId: string,
  { provider }: SettleDeps,
): void {
  if (!refused) throw error
  const headers = passedHeaders(refused.headers, callId, provider)
  const body = told ?? readRefusal(refused, provider, context.requestId).body
  receiver.whole(refused.status, { ...headers, 'content-type': 'application/json' }, body)
}

function tellInStream({ outcome, begun }: Failed, receiver: Receiver, { endpoint, context }: Admission): void {
  receiver.end(errorEvent(endpoint, outcome.error, context.requestId, begun?.sequence))
}

/** Asks one candidate. @param before the attempt that it stands in for */
async function tryOne(
  deps: SettleDeps,
  call: Admission,
  candidate: Candidate,
  receiver: Receiver,
  before: Attempt | null,
): Promise<Attempt> {
  const { request, needsText, context } = call
  const { provider } = deps
  const { path } = candidate
  const model = await candidate.model()
  const stream = request.json.stream === true
  const failure = before?.passed.kind === 'failed' ? before.passed : null
  const refused = failure?.refused ? refusedBy(failure.refused) : null
  const { sent, send } = await ask({ call, candidate, model: model.upstream, refused, client: receiver })
  const { bill } = call
  const begun = beginCall(
    deps,
    { path, model, stream, request: sent, fallbackFrom: before?.result.callId, bill },
    context,
  )
  const passing: Passing = {
    provider,
    receiver,
    asked: request.json,
    stream,
    needsText,
    requestId: context.requestId,
    callId: begun.callId,
    model: model.upstream,
    begun: failure?.begun ?? null,
    onFirst: begun.firstToken,
  }
  const passed = await pass(passing, candidate, send)
  const { error } = passed.outcome
  if (error) error.callId = begun.callId
  const isHad = passed.kind === 'answered' || passed.begun !== null
  const settled = await begun.settle({ ...passed.outcome, isHad })
  return { passed, result: { ...settled, path, model: model.upstream, failure: error } }
}

async function pass(
  passing: Passing,
  { passage }: Candidate,
  send: () => Promise<WholeReply | StreamReply>,
): Promise<Answered | Failed> {
  const { provider, receiver, stream } = passing
  let reply: WholeReply | StreamReply | undefined
  let tap: SseTap | undefined
  try {
    reply = await send()
    if (reply.kind === 'stream') {
      tap = createSseTap({ dropUsageChunk: passage.dropsUsage(passing), secrets: provider.secrets })
      if (stream) return await passage.passStream(passing, reply, tap)
      reply = await passage.gather(passing, reply, tap)
    }
    if (reply.status >= 400) return refusedWith(reply, passing, passage)
    return passage.passWhole(passing, reply)
  } catch (error) {
    const failure = upstreamFailure(error, provider, endingOf(receiver))
    const observed = tap ? observedStream(tap) : { ...NOTHING, usage: reportedUsage(error) }
    return failed(failure, reply?.status ?? null, observed)
  }
}

function refusedWith(reply: WholeReply, passing: Passing, passage: Candidate['passage']): Failed {
  const { provider, requestId } = passing
  const { error, body: told } = passage.refusal?.(reply, passing) ?? readRefusal(reply, provider, requestId)
  return failed(refusal(error, reply, provider), reply.status, NOTHING, { refused: reply, told })
}
