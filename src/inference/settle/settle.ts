import type { CallContext, CallRecord, CallStatus, SkippedCandidate } from '../../calls/call-record.ts'
import { NO_SESSION } from '../../calls/call-session.ts'
import type { Calls } from '../../calls/calls.ts'
import { GazewayError } from '../../errors.ts'
import { type AppliedPrice, appliedPrice, costOfCall, isByLength, upstreamCost } from '../../providers/cost.ts'
import { type CostOrigin, isAnotherModel, type PricedModel, type Prices, pricedBy } from '../../providers/prices.ts'
import { type CallTier, tierIn } from '../../providers/tiers.ts'
import type { Usage } from '../../providers/token-usage.ts'
import { newId } from '../../text/ids.ts'
import { fieldsOrNone } from '../../text/lenient-reader.ts'
import { type Micros, toUsd } from '../../text/money.ts'
import type { Bill } from '../admit/bill.ts'
import { ENDPOINTS } from '../api/endpoints.ts'
import { recordedError } from '../api/reported-error.ts'
import { type Changes, changeTexts } from '../convert/reported-changes.ts'
import { countUsage, type Observed, UNCOUNTED } from '../observe/observe.ts'
import { newOutputTimes, type OutputTimes, timingFrom } from '../observe/output-times.ts'
import { usesIn } from '../observe/reported-terms.ts'
import type { Reasoning } from '../reasoning/reasoning.ts'
import type { LateReceiver } from '../relay/abandoned-reads.ts'
import type { CacheWatch, WatchedCall } from '../session/cache-watch.ts'
import type { Provider } from '../upstreams/provider.ts'
import { isRaceLost } from '../upstreams/race-lost.ts'
import { costOfUntold, type LateTerms, NOTHING_UNSEEN, type UntoldCost, withMore } from './abandoned-answer.ts'
import { cacheEffect } from './cache-effect.ts'
import { mediaOfCall } from './media-of-call.ts'

/** Dependencies of a call record. */
export interface SettleDeps {
  calls: Calls
  /** Carries the reasoning of providers to clients and back. */
  reasoning: Pick<Reasoning, 'of'>
  prices: Prices
  /** True when the call record keeps request and answer (`audit.store_content`). */
  storeContent: boolean
  countTokens(text: string): Promise<number>
  /** Terms for answers whose clients have left. */
  late: LateTerms
  /** Watches the prompt caches of sessions; nobody does when absent. */
  watchCache?: CacheWatch | undefined
}

/** A call about to be made. */
export interface Invocation {
  /** Upstream to call. */
  provider: Provider
  /** Path below the provider's base URL. */
  path: string
  model: PricedModel | null
  stream: boolean
  /** Wait before the first attempt, in milliseconds. Null for a later one. */
  queueMs: number | null
  /** Failed call that this one replaces. */
  fallbackFrom?: string | undefined
  /** Candidates passed over since the attempt before. */
  skipped?: SkippedCandidate[]
  /** False for a request that is no call, such as one for a list of models. */
  isRecorded: boolean
  /** Changes of the request on its way there. */
  changes: Pick<Changes, 'list'>
  /** Bill to charge. */
  bill: Bill
  /** The client's request. */
  asked: WatchedCall['request']
  /** True for an answer in the background, of which the reservation was booked before its cost was known. */
  isLater?: true
  /** Body sent, for the record when content is stored, and for estimating usage when none is reported. */
  request: unknown
}

/** Outcome of a call. */
export interface Outcome extends Observed {
  /** Status of the upstream. Null without a reply. */
  httpStatus: number | null
  /** The error. Null when the client has its answer. */
  error: Error | null
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

/** Outcome of a call, and what became of its client. */
interface SettledOutcome extends Outcome {
  /** True when the client received part of the answer. */
  isHad: boolean
  /** True when the provider may bill an answer whose usage it did not tell. */
  isUntold: boolean
  /** Usage that replies told which were discarded for another try. */
  discarded: readonly Observed[]
  /** Receiver that reads on once the client has left. Null for a call without limits. */
  late: LateReceiver | null
  /** The provider's id of the answer, by which it states the cost later. Null without one. */
  generationId: string | null
}

const ALL_SEEN: Pick<UntoldCost, 'unseen' | 'statedMicros'> = { unseen: NOTHING_UNSEEN, statedMicros: null }

/** Endpoints whose cost is known by the tokens of their text. */
const OF_TEXT: ReadonlySet<string> = new Set([...ENDPOINTS, '/completions', '/embeddings'])

/** A request without a model has the flat price. */
const NO_MODEL: PricedModel = { requested: '', upstream: '', catalogue: {}, unknownPrice: 'fixed' }

/** Begins the record of a call. Its latency is measured from here. */
export function beginCall(deps: SettleDeps, invocation: Invocation, context: CallContext): BegunCall {
  const {
    calls,
    prices,
    storeContent,
    countTokens,
    late: { rates },
  } = deps
  const { provider } = invocation
  const callId = newId('call')
  const at = Date.now()
  // Monotonic: the wall clock may be adjusted during the call.
  const started = performance.now()
  const elapsedMs = () => Math.round(performance.now() - started)
  let firstTokenMs: number | null = null
  const times = newOutputTimes()
  const model = invocation.model ?? NO_MODEL
  /** The reply tells which tier answered; without it, the requested one counts, and then that of the project. */
  function tierOf({ terms }: Pick<Outcome, 'terms'>): CallTier {
    const asked = fieldsOrNone(invocation.request)
    const { service_tier, speed, inference_geo } = terms?.tier ?? {}
    const fields = {
      service_tier: service_tier ?? asked.service_tier ?? asked.serviceTier,
      speed: speed ?? asked.speed,
      inference_geo: inference_geo ?? asked.inference_geo,
    }
    return tierIn(fields, model.project)
  }

  const mediaOf = (terms: Outcome['terms'], priced = model) => mediaOfCall(invocation, terms, priced, prices)
  const costOf = (usage: Usage | null, outcome: Pick<Outcome, 'terms'>): Micros =>
    upstreamCost(usage, model, prices, tierOf(outcome), mediaOf(outcome.terms))
  /** Cost of a reply that was discarded: what the provider states wins here, too. The client's own key pays for itself. */
  function costOfDiscarded({ usage, terms = null }: Observed): Micros {
    const stated = provider.statesCost ? (terms?.stated ?? null) : null
    const { parts = null, uses = {} } = terms ?? {}
    const used = { usage, parts, media: mediaOf(terms), uses, tier: tierOf({ terms }), stated }
    return provider.paidBy === null ? costOfCall(used, model, prices).micros : 0
  }
  const rateKey = (): string => `${provider.name} ${invocation.model?.upstream ?? ''}`
  return {
    callId,
    firstToken() {
      firstTokenMs ??= elapsedMs()
    },
    times,
    settle(outcome) {
      const { usage, generated, error, promptUsage, late } = outcome
      const isCut = usage === null && error !== null
      if (isCut && late !== null && (outcome.isUntold || promptUsage?.())) return settleUntold(outcome, late)
      // Its caller gets nothing of it, and the provider may bill less than a whole answer.
      if (isRaceLost(error)) return settled({ ...outcome, generated: null }, usage)
      if (usage !== null || !generated) return settled(outcome, usage)
      return countUsage(countTokens, invocation.request, generated, error, promptUsage?.()).then((counted) =>
        settled(outcome, counted),
      )
    },
  }

  /** Settles an answer that ended before its usage came: its client had left, or the provider broke or fell silent. */
  async function settleUntold(outcome: SettledOutcome, late: LateReceiver): Promise<Settled> {
    const untold = await costOfUntold(deps.late, countTokens, {
      late,
      provider,
      request: invocation.request,
      stream: invocation.stream,
      generated: outcome.generated,
      promptUsage: outcome.promptUsage?.() ?? null,
      generationId: outcome.generationId,
      begunAt: started + (firstTokenMs ?? 0),
      rateKey: rateKey(),
      // Chat completions show all reasoning, or none.
      isSummarised: invocation.path === '/messages' || invocation.path === '/responses',
      isOfText: OF_TEXT.has(invocation.path),
      costOf: (usage) => costOf(usage, outcome),
    })
    return settled({ ...outcome, isHad: untold.isPaidFor }, untold.usage, untold)
  }

  function settled(
    outcome: SettledOutcome,
    observed: Usage | null,
    { unseen, statedMicros }: Pick<UntoldCost, 'unseen' | 'statedMicros'> = ALL_SEEN,
  ): Settled {
    const { httpStatus, error, generated, answer, made, isHad } = outcome
    const usage = observed === UNCOUNTED ? null : observed
    const name = invocation.model?.requested ?? ''
    const { terms } = outcome
    const stated = statedMicros ?? (provider.statesCost ? (terms?.stated ?? null) : null)
    const id = terms?.model ?? null
    const answeredBy = id !== null && isAnotherModel(id, model) ? { id, asked: model } : null
    const priced = pricedBy(answeredBy?.id ?? null, model, prices)
    const uses = usesIn(invocation.request, terms?.uses ?? {})
    const media = mediaOf(terms, priced)
    const used = { usage, parts: terms?.parts ?? null, media, uses, tier: tierOf(outcome), stated }
    const { paidBy } = provider
    const { micros: costMicros, from } =
      paidBy === null ? costOfCall(used, priced, prices) : { micros: 0, from: paidBy }
    const isByPiece = usage === null && costMicros > 0
    const priceFrom = usage === null && from !== 'stated' && !isByPiece ? paidBy : from
    // How fast the account of a client is answered says nothing about ours.
    if (paidBy === null && invocation.stream && error === null && usage !== null && usage.estimated !== true)
      rates.note(rateKey(), usage.completion_tokens, elapsedMs() - (firstTokenMs ?? 0))
    // A client that disconnects before the first word pays nothing.
    const isPaidFor = isHad && !isRaceLost(error) && (error === null || observed !== null)
    const isOfUnknownLength = !uses.audio_second && isByLength(priced, prices)
    if (isPaidFor && (observed === UNCOUNTED || isOfUnknownLength)) invocation.bill.cutOff()
    const knownMicros = isPaidFor || unseen.micros === 0 ? costMicros : 0
    const discardedMicros = outcome.discarded.reduce((sum, one) => sum + costOfDiscarded(one), 0)
    const price = (): AppliedPrice => ({
      ...(used.parts !== null && { mixed: true }),
      ...appliedPrice(usage, priced, prices, used.tier, media),
    })
    const spend = invocation.bill.attempted({
      callId,
      model: name,
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
      latencyMs: elapsedMs(),
      isHad: isPaidFor,
      ...(invocation.isLater && { isLater: true as const }),
    })
    // Of unlimited cost the reservation is counted, and the cost of what is known where the operator bears it.
    const isKnown = Number.isFinite(unseen.micros)
    const costUsd = toUsd(isKnown ? knownMicros + unseen.micros + discardedMicros : (spend?.micros ?? costMicros))
    if (!invocation.isRecorded) return { callId, usage, costUsd, price, priceFrom }
    const recorded: CallRecord = {
      call_id: callId,
      at: timeOf(at),
      surface: context.surface,
      caller_id: context.callerId,
      address: context.address ?? null,
      path: `/v1${invocation.path}`,
      requested_model: invocation.model?.requested ?? null,
      model: invocation.model?.upstream ?? null,
      upstream: provider.name,
      stream: invocation.stream,
      status: statusOf(error),
      http_status: httpStatus ?? statusIn(error),
      fallback_from: invocation.fallbackFrom ?? null,
      skipped: invocation.skipped ?? [],
      latency_ms: elapsedMs(),
      first_token_ms: firstTokenMs,
      usage: usage && (unseen.tokens === 0 ? usage : withMore(usage, unseen.tokens)),
      upstream_cost_usd: isRaceLost(error) && usage === null ? null : costUsd,
      price_from: priceFrom,
      provider_key: provider.keyId,
      ...(context.session ?? NO_SESSION),
      error: error && recordedError(error, provider, storeContent),
    }
    if (!invocation.isLater) recorded.timing = timingFrom(started, times, invocation.queueMs)
    // The cache of another account has saved and cost us nothing.
    const cache = paidBy === null ? cacheEffect(deps, invocation, { context, callId, used, priced }) : undefined
    if (cache !== undefined) recorded.cache = cache
    if (context.tags !== undefined) recorded.tags = [...context.tags]
    const changes = invocation.changes.list()
    if (changes.length > 0) recorded.changed = changeTexts(changes)
    if (storeContent)
      recorded.content = {
        request: invocation.request,
        answer: answer === undefined ? (generated?.().text ?? null) : answer,
      }
    calls.record(recorded, context, spend, made, { request: invocation.request, answeredBy: id })
    return { callId, usage, costUsd, price, priceFrom }
  }
}

function statusOf(error: Error | null): CallStatus {
  if (error === null) return 'ok'
  if (isRaceLost(error)) return 'hedged'
  return error instanceof GazewayError && error.code === 'cancelled' ? 'aborted' : 'error'
}

let lastTime = 0
let lastText = ''

/**
 * Formats a time as RFC 3339 UTC. Cached, since many calls begin in the same millisecond.
 *
 * @param time milliseconds since 1970
 */
function timeOf(time: number): string {
  if (time !== lastTime) {
    lastTime = time
    lastText = new Date(time).toISOString()
  }
  return lastText
}

/** Status of a reply that was cut off before anything could be read. */
const statusIn = (error: Error | null): number | null =>
  error instanceof GazewayError ? (error.upstreamStatus ?? null) : null
