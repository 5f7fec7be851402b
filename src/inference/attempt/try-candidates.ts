import { GazewayError } from '../../errors.ts'
import type { SilenceWatch } from '../../wire/idle-watch.ts'
import type { Admission } from '../admit/admit.ts'
import { nameLimit } from '../admit/name-limit.ts'
import type { BegunResponse } from '../convert/begun-response.ts'
import type { Facts } from '../dialect/facts.ts'
import { refusedBy } from '../dialect/refusal.ts'
import { errorEvent } from '../passages/error-event.ts'
import { type LateReads, type LateReceiver, lateReceiver } from '../relay/abandoned-reads.ts'
import type { Receiver } from '../relay/receiver.ts'
import type { Candidate } from '../route/route.ts'
import type { SettleDeps } from '../settle/settle.ts'
import { cooldownAfter } from '../upstreams/cooldowns.ts'
import { isRaceLost } from '../upstreams/race-lost.ts'
import { candidateOrder, circuitOf, hasChoice, type Selection } from './candidate-order.ts'
import { isEnded, MAX_ATTEMPTS, MAX_TIME_MS } from './fallback.ts'
import { besideOf, createRace, isHedgeable, type Race } from './hedge.ts'
import { type HeldCall, heldFor } from './hold-client.ts'
import { isMissing, learnMissing, toldAttempt, withoutMissing } from './missing-endpoint.ts'
import { type PreparedRequest, prepareRequest } from './prepare-request.ts'
import { sendFailure } from './send-failure.ts'
import { type Attempt, type Result, type Turn, tryCandidate } from './try-candidate.ts'

/** Dependencies of attempts. */
export interface AttemptDeps extends SettleDeps {
  /** Known forms that upstreams accept. */
  facts: Facts
  /** Schedules the heartbeats of streams. */
  heartbeat: SilenceWatch
}

/**
 * Third step of a call: tries one candidate after another until one answers, and passes its reply on as it arrives.
 * Each attempt is settled separately; later ones refer to the first in `fallback_from`.
 *
 * @returns once the reply is complete and recorded
 * @throws GazewayError when no candidate answered, before the first byte of a reply; after that, the stream itself ends
 *   with an error
 */
export async function tryCandidates(
  deps: AttemptDeps,
  call: Admission,
  planned: readonly Candidate[],
  receiver: Receiver,
): Promise<Result> {
  const candidates = withoutMissing(deps.facts, planned, call)
  const first = candidates[0] as Candidate
  const isSole = candidates.length === 1 && first.relays.all.length === 1
  const client = heldFor(deps.heartbeat, call, receiver, isSole)
  try {
    if (!isSole) return await tryEach(deps, call, candidates, { receiver, client })
    const held = client?.held ?? receiver
    const selection = { candidate: first, relay: first.relays.all[0], isLast: true, isLastResort: true, skipped: NONE }
    const late = lateFor(deps, call, selection, held)
    const { reasoning, facts } = deps
    const prepared = prepareRequest({ reasoning, facts, call, selection, refused: null, client: late ?? held })
    // Avoids a promise where possible: each one is a measurable share of a request.
    const request = prepared instanceof Promise ? await prepared : prepared
    const { passed, result } = await tryCandidate(deps, call, selection, request, {
      receiver: late ?? held,
      late,
      attempt: 1,
      fallbackFrom: undefined,
      begun: null,
      onCall: client?.onCall,
    })
    if (passed.kind === 'failed') sendFailure(passed, { receiver, held: client?.held ?? null }, call, result)
    return result
  } finally {
    client?.held.release()
  }
}

/** A call that has several candidates or keys. */
interface Trial {
  deps: AttemptDeps
  call: Admission
  candidates: readonly Candidate[]
  /** Attempts that were not cancelled. */
  before: Attempt[]
  /** Number of attempts so far. */
  attempts: number
  mayHedge: boolean
  /** The hedging candidate, if it failed. */
  failedBeside: Selection | null
  /** Called with the id of each attempt. */
  onCall: HeldCall['onCall']
}

async function tryEach(
  deps: AttemptDeps,
  call: Admission,
  candidates: readonly Candidate[],
  { receiver, client }: { receiver: Receiver; client: HeldCall | null },
): Promise<Result> {
  const [{ hedgeAfterMs }] = candidates as [Candidate, ...Candidate[]]
  const held = client?.held ?? null
  const mayHedge = hedgeAfterMs !== null && isHedgeable(call)
  const { onCall } = client ?? {}
  const trial: Trial = { deps, call, candidates, before: [], attempts: 0, mayHedge, failedBeside: null, onCall }
  try {
    const last = await lastAttempt(trial, held ?? receiver)
    const { passed, result } = last
    if (passed.kind === 'answered') {
      const { error } = passed.outcome
      if (error === null || isEnded(error)) return result
      return { ...result, failure: (trial.before[0] ?? last).result.failure }
    }
    const failed = { ...passed, begun: begunIn(trial) }
    sendFailure(failed, { receiver, held }, call, { ...result, attempt: trial.attempts })
    return result
  } catch (error) {
    const [first] = trial.before
    if (!held?.isBegun() || first === undefined || !(error instanceof GazewayError)) throw error
    held.end(errorEvent(call.endpoint, error, call.context.requestId, begunIn(trial)?.sequence))
    return { ...first.result, failure: error }
  } finally {
    learnMissing(deps.facts, trial.before, call)
  }
}

/**
 * Tries candidates until one answers.
 *
 * @returns the attempt that its client learns of: the one that answered or was ended, else the first whose endpoint exists
 * @throws GazewayError when no endpoint that exists expresses the request
 */
async function lastAttempt(trial: Trial, client: Receiver): Promise<Attempt> {
  const { call, candidates, before, onCall } = trial
  const began = performance.now()
  let last: Attempt | undefined
  let unfit: GazewayError | null = null
  for (const selection of candidateOrder(candidates, () => last && seenBy(trial, last), call)) {
    if (trial.attempts >= MAX_ATTEMPTS || performance.now() - began > MAX_TIME_MS) break
    if (trial.failedBeside !== null && isSame(selection, trial.failedBeside)) continue
    const reserving = trial.attempts === 0 ? null : call.bill.reserveNext(client.isGone)
    if (reserving !== null)
      await reserving.catch((error: unknown) => {
        throw nameLimit(error, call.endpoint, call.request.json)
      })
    const begun = begunIn(trial)
    const race = trial.mayHedge && begun === null ? createRace(client, () => trial.attempts) : null
    const entered = race === null ? client : race.enter()
    const late = lateFor(trial.deps, call, selection, entered)
    const receiver = late ?? entered
    let request: PreparedRequest
    try {
      request = await prepareRequest({
        reasoning: trial.deps.reasoning,
        facts: trial.deps.facts,
        call,
        selection,
        refused: refusedIn(last),
        client: receiver,
      })
    } catch (error) {
      // Another upstream's API may express the request.
      if (!(error instanceof GazewayError)) throw error
      unfit ??= error
      continue
    }
    const turn = { receiver, late, attempt: ++trial.attempts, fallbackFrom: before[0]?.result.callId, begun, onCall }
    last =
      race === null
        ? noted(trial, await tryCandidate(trial.deps, call, selection, request, turn))
        : await hedged(trial, { race, entered }, selection, request, turn)
    const { kind, outcome } = last.passed
    if (kind === 'answered' || isEnded(outcome.error)) return last
  }
  const told = toldAttempt(before)
  if (unfit !== null && (told === undefined || isMissing(told))) throw unfit
  if (told === undefined) throw new Error('No candidate was tried.')
  return told
}

/** Records an attempt that was not cancelled. A failed one may start the cooldown of its key. */
function noted({ call, candidates, before }: Trial, made: Attempt): Attempt {
  const { passed } = made
  const { candidate, relay } = made.selection
  before.push(made)
  if (passed.kind === 'failed' && hasChoice(candidates))
    candidate.relays.rest(relay, circuitOf(candidate, call.context), cooldownAfter(passed.refused))
  return made
}

/**
 * Tries a candidate, and hedges it with the next when it is slow. The bill stays open for one that was overtaken.
 *
 * @returns the attempt that decides how the call continues
 */
async function hedged(
  trial: Trial,
  { race, entered }: { race: Race; entered: Receiver },
  selection: Selection,
  request: PreparedRequest,
  turn: Turn,
): Promise<Attempt> {
  let firstId = turn.fallbackFrom
  const onCall = (id: string) => {
    firstId ??= id
    turn.onCall?.(id)
  }
  const { deps, call } = trial
  const made = race.unlessOvertaken(entered, tryCandidate(deps, call, selection, request, { ...turn, onCall }))
  const afterMs = trial.candidates[0]?.hedgeAfterMs as number
  let giveBack: (() => void) | null = null
  async function tryBeside(): Promise<Attempt | null> {
    const beside = race.isDecided() ? null : besideOf(trial.candidates, selection.candidate, call)
    giveBack = beside && (await call.bill.reserveAgain())
    if (beside === null || giveBack === null) return null
    // The bill is reserved and kept open a second time at most once.
    trial.mayHedge = false
    return tryNext(trial, race, beside, firstId)
  }
  const [first, second] = await race.run(made, afterMs, tryBeside).finally(() => {
    if (giveBack !== null) deps.late.reads.follow(call.bill.keepOpen(race.over().then(giveBack)))
  })
  // A cancelled attempt has not failed: it can be retried.
  if (isOvertaken(second)) return noted(trial, first as Attempt)
  trial.failedBeside = second.selection
  if (isOvertaken(first)) return noted(trial, second)
  return [noted(trial, first), noted(trial, second)].find(isBegun) ?? first
}

/** Tells whether an attempt has no result: another one has answered first, or it was not made. */
const isOvertaken = (made: Attempt | null): made is null => made === null || isRaceLost(made.passed.outcome.error)

/**
 * Hedges a slow candidate with the next one.
 *
 * @returns null when the race is over, or the API of that one cannot express the request
 */
async function tryNext(
  trial: Trial,
  race: Race,
  selection: Selection,
  fallbackFrom: string | undefined,
): Promise<Attempt | null> {
  const { deps, call } = trial
  if (race.isDecided()) return null
  try {
    const entered = race.enter()
    const late = lateFor(deps, call, selection, entered)
    const receiver = late ?? entered
    const request = await prepareRequest({
      reasoning: deps.reasoning,
      facts: deps.facts,
      call,
      selection,
      refused: null,
      client: receiver,
    })
    const turn = { receiver, late, attempt: ++trial.attempts, fallbackFrom, begun: null }
    return await race.unlessOvertaken(entered, tryCandidate(deps, call, selection, request, turn))
  } catch (error) {
    // Its API cannot express the request.
    if (!(error instanceof GazewayError)) throw error
    return null
  }
}

/** Receiver of an attempt that reads on once the client has left. Null for a call that nobody is held to. */
function lateFor(
  { late: { reads, readOnMs } }: SettleDeps,
  { bill, request }: Admission,
  { relay: { provider } }: Selection,
  receiver: Receiver,
): LateReceiver | null {
  if (!bill.isReadOn) return null
  // An answer in the background goes on without its reader, and costs its reservation.
  if ((request.json.background ?? false) !== false)
    return lateReceiver(receiver, { reads: NO_READS, forMs: null, overtakenForMs: 0 })
  // Closing stops streams alone.
  const isStopped = request.json.stream === true && (provider.stopsOnClose || provider.generations !== null)
  const readMs = provider.generations === null ? readOnMs : 0
  return lateReceiver(receiver, { reads, forMs: isStopped ? readMs : null, overtakenForMs: isStopped ? 0 : readOnMs })
}

const NO_READS: Pick<LateReads, 'begin'> = { begin: () => null }
const NONE: Selection['skipped'] = []

const isSame = (one: Selection, other: Selection): boolean =>
  one.candidate === other.candidate && one.relay === other.relay

/** Tells whether the client received part of the answer. */
const isBegun = ({ passed }: Attempt): boolean => passed.kind === 'answered' || passed.begun !== null

/** State of the stream that an attempt has begun, the latest of them. Null when the client has received nothing. */
const begunIn = ({ before }: Trial): BegunResponse | null =>
  before.reduce<BegunResponse | null>((begun, { passed }) => (passed.kind === 'failed' && passed.begun) || begun, null)

/** Result of an attempt as its client sees it: a stream that an earlier one has begun stays begun. */
const seenBy = (trial: Trial, { passed }: Attempt): Attempt['passed'] =>
  passed.kind === 'failed' ? { ...passed, begun: begunIn(trial) } : passed

/** Field that the previous candidate rejected. Null when none did. */
function refusedIn(before: Attempt | undefined): string | null {
  return before?.passed.kind === 'failed' && before.passed.refused ? refusedBy(before.passed.refused) : null
}
