import type { CallContext } from '../../calls/call-record.ts'
import type { Calls } from '../../calls/calls.ts'
import type { AppliedPrice } from '../../providers/cost.ts'
import type { CostOrigin } from '../../providers/prices.ts'
import type { Usage } from '../../providers/token-usage.ts'
import { newId } from '../../text/ids.ts'
import { toUsd } from '../../text/money.ts'
import { ENDPOINTS } from '../api/endpoints.ts'
import { countUsage, UNCOUNTED } from '../observe/observe.ts'
import { newOutputTimes, type OutputTimes } from '../observe/output-times.ts'
import type { Reasoning } from '../reasoning/reasoning.ts'
import type { LateReceiver } from '../relay/abandoned-reads.ts'
import { isRaceLost } from '../upstreams/race-lost.ts'
import { costOfUntold, type LateTerms, NOTHING_UNSEEN, type UntoldCost, withMore } from './abandoned-answer.ts'
import { costOfDiscarded, costOfUsage, priceCall } from './call-price.ts'
import type { Invocation, SettledOutcome } from './invocation.ts'
import { type CallRecordDeps, recordedCall } from './recorded-call.ts'

/** Dependencies of a settlement. */
export interface SettleDeps extends CallRecordDeps {
  calls: Calls
  /** Carries the reasoning of providers to clients and back. */
  reasoning: Pick<Reasoning, 'of'>
  countTokens(text: string): Promise<number>
  /** Terms for answers whose clients have left. */
  late: LateTerms
}

/** Result of a settled call. */
export interface Settled {
  callId: string
  /** Usage as reported, or estimated. Null without an answer. */
  usage: Usage | null
  costUsd: number
  /** Rates that the cost was computed from. */
  price: () => AppliedPrice
  /** Origin of the cost. Null when nothing is known to have been used. */
  priceFrom: CostOrigin | null
}

/** A call in flight. */
export interface BegunCall {
  callId: string
  /** Reports the first piece of the answer. */
  firstToken(): void
  /** Takes the times at which the parts of the reply begin. */
  times: OutputTimes
  /**
   * Ends the call, once: estimates usage that was not reported, prices and bills the call, and writes its record.
   */
  settle(outcome: SettledOutcome): Settled | Promise<Settled>
}

const ALL_SEEN: Pick<UntoldCost, 'unseen' | 'statedMicros'> = { unseen: NOTHING_UNSEEN, statedMicros: null }

/** Endpoints whose cost is known by the tokens of their text. */
const OF_TEXT: ReadonlySet<string> = new Set([...ENDPOINTS, '/completions', '/embeddings'])

/** A call that has begun, and what is known of it so far. */
interface CallSoFar {
  deps: SettleDeps
  invocation: Invocation
  context: CallContext
  callId: string
  /** Begin of the call, in Unix milliseconds. */
  at: number
  /** Begin on the monotonic clock: the wall clock may be adjusted during the call. */
  started: number
  firstTokenMs: number | null
  times: OutputTimes
}

/** Begins the record of a call. Its latency is measured from here. */
export function beginCall(deps: SettleDeps, invocation: Invocation, context: CallContext): BegunCall {
  const callId = newId('call')
  const call: CallSoFar = {
    deps,
    invocation,
    context,
    callId,
    at: Date.now(),
    started: performance.now(),
    firstTokenMs: null,
    times: newOutputTimes(),
  }
  return {
    callId,
    firstToken() {
      call.firstTokenMs ??= elapsedMs(call)
    },
    times: call.times,
    settle: (outcome) => settle(call, outcome),
  }
}

const elapsedMs = ({ started }: CallSoFar): number => Math.round(performance.now() - started)

/** Names the model of an upstream whose speed is known. */
const rateKey = ({ provider, model }: Invocation): string => `${provider.name} ${model?.upstream ?? ''}`

function settle(call: CallSoFar, outcome: SettledOutcome): Settled | Promise<Settled> {
  const { usage, generated, error, promptUsage, late } = outcome
  const isCut = usage === null && error !== null
  if (isCut && late !== null && (outcome.isUntold || promptUsage?.())) return settleUntold(call, outcome, late)
  // Its caller gets nothing of it, and the provider may bill less than a whole answer.
  if (isRaceLost(error)) return settled(call, { ...outcome, generated: null }, usage)
  if (usage !== null || !generated) return settled(call, outcome, usage)
  return countUsage(call.deps.countTokens, call.invocation.request, generated, error, promptUsage?.()).then((counted) =>
    settled(call, outcome, counted),
  )
}

/** Settles an answer that ended before its usage came: its client had left, or the provider broke or fell silent. */
async function settleUntold(call: CallSoFar, outcome: SettledOutcome, late: LateReceiver): Promise<Settled> {
  const { deps, invocation } = call
  const untold = await costOfUntold(deps.late, deps.countTokens, {
    late,
    provider: invocation.provider,
    request: invocation.request,
    stream: invocation.stream,
    generated: outcome.generated,
    promptUsage: outcome.promptUsage?.() ?? null,
    generationId: outcome.generationId,
    begunAt: call.started + (call.firstTokenMs ?? 0),
    rateKey: rateKey(invocation),
    // Chat completions show all reasoning, or none.
    isSummarised: invocation.path === '/messages' || invocation.path === '/responses',
    isOfText: OF_TEXT.has(invocation.path),
    costOf: (usage) => costOfUsage(deps.prices, invocation, usage, outcome.terms),
  })
  return settled(call, { ...outcome, isHad: untold.isPaidFor }, untold.usage, untold)
}

/** Prices and bills a call whose usage is known, and records it. */
function settled(
  call: CallSoFar,
  outcome: SettledOutcome,
  observed: Usage | null,
  { unseen, statedMicros }: Pick<UntoldCost, 'unseen' | 'statedMicros'> = ALL_SEEN,
): Settled {
  const { deps, invocation, context, callId, firstTokenMs } = call
  const { error, terms, isHad } = outcome
  const { provider, bill } = invocation
  const latencyMs = elapsedMs(call)
  const usage = observed === UNCOUNTED ? null : observed
  const callPrice = priceCall(deps.prices, invocation, { usage, terms }, statedMicros)
  const { costMicros, priceFrom, price, answeredBy, isByPiece } = callPrice
  // How fast the account of a client is answered says nothing about ours.
  if (provider.paidBy === null && invocation.stream && error === null && usage !== null && usage.estimated !== true)
    deps.late.rates.note(rateKey(invocation), usage.completion_tokens, latencyMs - (firstTokenMs ?? 0))
  // A client that disconnects before the first word pays nothing.
  const isPaidFor = isHad && !isRaceLost(error) && (error === null || observed !== null)
  if (isPaidFor && (observed === UNCOUNTED || callPrice.isOfUnknownLength)) bill.cutOff()
  const knownMicros = isPaidFor || unseen.micros === 0 ? costMicros : 0
  const discarded = outcome.discarded.map((one) => costOfDiscarded(deps.prices, invocation, one))
  const discardedMicros = discarded.reduce((sum, micros) => sum + micros, 0)
  const spend = bill.attempted({
    callId,
    model: invocation.model?.requested ?? '',
    answeredBy,
    isByPiece,
    upstream: provider.name,
    path: `/v1${invocation.path}`,
    costMicros: knownMicros,
    unseenMicros: unseen.micros,
    discardedMicros,
    price,
    isStated: priceFrom === 'stated',
    // Its tokens cost more than the rest that is booked.
    usage: invocation.isLater ? null : usage,
    latencyMs,
    isHad: isPaidFor,
    isLater: invocation.isLater,
  })
  // Of unlimited cost the reservation is counted, and the cost of what is known where the operator bears it.
  const isKnown = Number.isFinite(unseen.micros)
  const costUsd = toUsd(isKnown ? knownMicros + unseen.micros + discardedMicros : (spend?.micros ?? costMicros))
  if (invocation.isRecorded) {
    const withUnseen = usage && (unseen.tokens === 0 ? usage : withMore(usage, unseen.tokens))
    const { at, started, times } = call
    const figures = { callId, at, started, times, latencyMs, firstTokenMs, usage: withUnseen, costUsd, callPrice }
    const record = recordedCall(deps, invocation, context, outcome, figures)
    const facts = { request: invocation.request, answeredBy: terms?.model ?? null }
    deps.calls.record(record, context, spend, outcome.made, facts)
  }
  return { callId, usage, costUsd, price, priceFrom }
}
