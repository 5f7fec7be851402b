import { GazewayError } from '../errors.ts'
import type { Admission } from './admit.ts'
import { type Asked, ask } from './ask.ts'
import { type Asking, attemptOrder, hasChoice } from './attempt-order.ts'
import { refusal, upstreamFailure } from './failure.ts'
import { isEnded, MOST_ATTEMPTS, MOST_TIME_MS, restMs } from './fallback.ts'
import { NOTHING, observedStream } from './observe.ts'
import type { Provider } from './provider.ts'
import { errorEvent } from './relay/error-event.ts'
import { heldReceiver } from './relay/held-receiver.ts'
import { type Answered, type Failed, failed, type Passing } from './relay/passing.ts'
import type { Receiver } from './relay/receiver.ts'
import { endingOf, type StreamReply, type WholeReply } from './relay/send.ts'
import { createSseTap, type SseTap } from './relay/sse-tap.ts'
import { attemptHeaders, passedHeaders, readRefusal } from './relay/upstream-reply.ts'
import { ReportedError, reportedUsage } from './reported-error.ts'
import { refusedBy } from './request-form.ts'
import type { Candidate } from './route.ts'
import { beginCall, type SettleDeps, type Settled } from './settle.ts'

/** What a call came to, for whoever made it. */
export interface Result extends Settled {
  /** The endpoint that was asked last. */
  path: Candidate['path']
  /** Who was asked last. */
  provider: Provider
  /** Its place among the attempts of the call, from 1. */
  attempt: number
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
  const first = candidates[0] as Candidate
  if (candidates.length > 1 || first.relays.all.length > 1) return attemptEach(deps, call, candidates, receiver)
  const asking = { candidate: first, relay: first.relays.all[0], isLast: true }
  const asked = ask({ call, asking, refused: null, client: receiver })
  // Each promise more costs a fiftieth of all that a request does.
  const request = asked instanceof Promise ? await asked : asked
  const { passed, result } = await tryOne(deps, call, asking, request, { receiver, before: [] })
  if (passed.kind === 'failed') tell(passed, receiver, call, result)
  return result
}

async function attemptEach(
  deps: SettleDeps,
  call: Admission,
  candidates: readonly Candidate[],
  receiver: Receiver,
): Promise<Result> {
  const [{ relays }] = candidates as [Candidate, ...Candidate[]]
  const held = call.request.json.stream === true ? heldReceiver(receiver, relays.all[0].heartbeat) : null
  const client = held ?? receiver
  const mayRest = hasChoice(candidates)
  const before: Attempt[] = []
  const began = performance.now()
  let unfit: GazewayError | null = null
  try {
    for (const asking of attemptOrder(candidates, () => before.at(-1)?.passed, call)) {
      if (before.length === MOST_ATTEMPTS || performance.now() - began > MOST_TIME_MS) break
      let request: Asked
      try {
        request = await ask({ call, asking, refused: refusedIn(before.at(-1)), client })
      } catch (error) {
        // What the API of this upstream cannot express, that of another may.
        if (!(error instanceof GazewayError)) throw error
        unfit ??= error
        continue
      }
      const made = await tryOne(deps, call, asking, request, { receiver: client, before })
      before.push(made)
      const { passed, result } = made
      const { error } = passed.outcome
      if (error && isEnded(error)) return ended(made)
      if (passed.kind === 'answered') return { ...result, failure: error && (before[0] as Attempt).result.failure }
      if (mayRest) asking.candidate.relays.rest(asking.relay, restMs(passed))
    }
    if (before[0] === undefined) throw unfit ?? new Error('No candidate was asked.')
    return ended(before[0])
  } finally {
    held?.release()
  }

  function ended({ passed, result }: Attempt): Result {
    if (passed.kind === 'answered') return result
    if (held?.isBegun()) tellInStream(passed, held, call)
    else tell(passed, receiver, call, { ...result, attempt: before.length })
    return result
  }
}

/** The field that the candidate before has refused; null for none. */
function refusedIn(before: Attempt | undefined): string | null {
  return before?.passed.kind === 'failed' && before.passed.refused ? refusedBy(before.passed.refused) : null
}

/** Answers with the failure. @throws its error, unless it is a refusal of the upstream's */
function tell(
  { refused, told, outcome: { error } }: Failed,
  receiver: Receiver,
  { context }: Admission,
  { callId, provider, attempt }: Pick<Result, 'callId' | 'provider' | 'attempt'>,
): void {
  if (!refused) {
    error.headers = { ...error.headers, ...attemptHeaders({ provider, attempt }) }
    throw error
  }
  const headers = passedHeaders(refused.headers, { callId, provider, attempt })
  const body = told ?? readRefusal(refused, provider, context.requestId).body
  receiver.whole(refused.status, { ...headers, 'content-type': 'application/json' }, body)
}

function tellInStream({ outcome, begun }: Failed, receiver: Receiver, { endpoint, context }: Admission): void {
  receiver.end(errorEvent(endpoint, outcome.error, context.requestId, begun?.sequence))
}

/** Asks one candidate. @param to.before the attempts that it follows */
async function tryOne(
  deps: SettleDeps,
  call: Admission,
  { candidate, relay }: Asking,
  { model, sent, send }: Asked,
  { receiver, before }: { receiver: Receiver; before: readonly Attempt[] },
): Promise<Attempt> {
  const { request, needsText, context, bill } = call
  const { path, passage } = candidate
  const { provider } = relay
  const stream = request.json.stream === true
  const last = before.at(-1)?.passed
  const fallbackFrom = before[0]?.result.callId
  const begun = beginCall(deps, { provider, path, model, stream, request: sent, fallbackFrom, bill }, context)
  const attempt = before.length + 1
  const passing: Passing = {
    provider,
    receiver,
    asked: request.json,
    stream,
    needsText,
    requestId: context.requestId,
    callId: begun.callId,
    attempt,
    model: model.upstream,
    begun: last?.kind === 'failed' ? last.begun : null,
    onFirst: begun.firstToken,
  }
  const passed = await pass(passing, passage, send)
  const { error } = passed.outcome
  if (error) error.callId = begun.callId
  const isHad = passed.kind === 'answered' || passed.begun !== null
  const settling = begun.settle({ ...passed.outcome, isHad })
  const settled = settling instanceof Promise ? await settling : settling
  return { passed, result: { ...settled, path, provider, attempt, model: model.upstream, failure: error } }
}

async function pass(
  passing: Passing,
  passage: Candidate['passage'],
  send: () => Promise<WholeReply | StreamReply>,
): Promise<Answered | Failed> {
  const { provider, receiver, stream } = passing
  let reply: WholeReply | StreamReply | undefined
  let tap: SseTap | undefined
  try {
    reply = await send()
    if (reply.kind === 'stream') {
      tap = createSseTap({ dropUsageChunk: passage.dropsUsage(passing), secrets: provider.secrets })
      if (stream) return streamed(await passage.passStream(passing, reply, tap))
      reply = await passage.gather(passing, reply, tap)
    }
    if (reply.status >= 400) return refusedWith(reply, passing, passage)
    return passage.passWhole(passing, reply)
  } catch (error) {
    const failure = upstreamFailure(error, provider, endingOf(receiver))
    // It had begun to answer, unless it reports an error in place of that.
    if (reply && !(error instanceof ReportedError)) failure.upstreamStatus ??= reply.status
    const observed = tap ? observedStream(tap) : { ...NOTHING, usage: reportedUsage(error) }
    return failed(failure, reply?.status ?? null, observed)
  }
}

const streamed = (passed: Answered | Failed): Answered | Failed =>
  passed.kind === 'failed' ? { ...passed, isStreamed: true } : passed

function refusedWith(reply: WholeReply, passing: Passing, passage: Candidate['passage']): Failed {
  const { provider, requestId } = passing
  const { error, body: told } = passage.refusal?.(reply, passing) ?? readRefusal(reply, provider, requestId)
  return failed(refusal(error, reply, provider), reply.status, NOTHING, { refused: reply, told })
}
