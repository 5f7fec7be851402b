import { GazewayError } from '../errors.ts'
import type { Admission } from './admit.ts'
import { type Asked, ask } from './ask.ts'
import { type Attempt, type Result, tryOne } from './attempt.ts'
import { attemptOrder, hasChoice } from './attempt-order.ts'
import { isEnded, MOST_ATTEMPTS, MOST_TIME_MS, restMs } from './fallback.ts'
import { errorEvent } from './relay/error-event.ts'
import { heldReceiver } from './relay/held-receiver.ts'
import type { Failed } from './relay/passing.ts'
import type { Receiver } from './relay/receiver.ts'
import { attemptHeaders, passedHeaders, readRefusal } from './relay/upstream-reply.ts'
import { refusedBy } from './request-form.ts'
import type { Candidate } from './route.ts'
import type { SettleDeps } from './settle.ts'

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
