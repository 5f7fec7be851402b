import type { CallContext, CallRecord, CallStatus, SkippedCandidate } from '../../calls/call-record.ts'
import type { Calls } from '../../calls/calls.ts'
import { GazewayError } from '../../errors.ts'
import {
  type AppliedPrice,
  appliedPrice,
  type PricedModel,
  type Prices,
  tierIn,
  upstreamCost,
} from '../../providers/prices.ts'
import type { Usage } from '../../providers/token-usage.ts'
import { newId } from '../../text/ids.ts'
import { fieldsOrNone } from '../../text/lenient-reader.ts'
import { toUsd } from '../../text/money.ts'
import type { Bill } from '../admit/bill.ts'
import { recordedError } from '../api/reported-error.ts'
import { countUsage, type Observed, UNCOUNTED } from '../observe/observe.ts'
import type { Provider } from '../upstreams/provider.ts'
import { isRaceLost } from '../upstreams/race-lost.ts'

/** Dependencies of a call record. */
export interface SettleDeps {
  calls: Calls
  prices: Prices
  /** True when the call record keeps request and answer (`audit.store_content`). */
  storeContent: boolean
  countTokens(text: string): Promise<number>
}

/** A call about to be made. */
export interface Invocation {
  /** Upstream to call. */
  provider: Provider
  /** Path below the provider's base URL. */
  path: string
  model: PricedModel | null
  stream: boolean
  /** Failed call that this one replaces. */
  fallbackFrom?: string | undefined
  /** Candidates passed over since the attempt before. */
  skipped?: SkippedCandidate[]
  /** False for a request that is no call, such as one for a list of models. */
  isRecorded: boolean
  /** Bill to charge. */
  bill: Bill
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
}

/** A call in flight. */
export interface BegunCall {
  callId: string
  /** Reports the first piece of the answer. */
  firstToken(): void
  /**
   * Ends the call, once: estimates usage that was not reported, prices and bills the call, and writes its record.
   * `isHad`: the client received part of the answer.
   */
  settle(outcome: Outcome & { isHad: boolean }): Settled | Promise<Settled>
}

/** A request without a model has the flat price. */
const NO_MODEL: PricedModel = { requested: '', upstream: '', catalogue: {} }

/** Begins the record of a call. Its latency is measured from here. */
export function beginCall(deps: SettleDeps, invocation: Invocation, context: CallContext): BegunCall {
  const { calls, prices, storeContent, countTokens } = deps
  const { provider } = invocation
  const callId = newId('call')
  const at = Date.now()
  // Monotonic: the wall clock may be adjusted during the call.
  const started = performance.now()
  const elapsedMs = () => Math.round(performance.now() - started)
  let firstTokenMs: number | null = null
  return {
    callId,
    firstToken() {
      firstTokenMs ??= elapsedMs()
    },
    settle(outcome) {
      const { usage, generated, error } = outcome
      // The upstream's bill for it is unknown, and its caller does not pay for it.
      if (isRaceLost(error)) return settled({ ...outcome, generated: null }, null)
      if (usage !== null || !generated) return settled(outcome, usage)
      return countUsage(countTokens, invocation.request, generated, error).then((counted) => settled(outcome, counted))
    },
  }

  function settled(
    { httpStatus, error, serviceTier, generated, answer, made, isHad }: Outcome & { isHad: boolean },
    observed: Usage | null,
  ): Settled {
    const usage = observed === UNCOUNTED ? null : observed
    const name = invocation.model?.requested ?? ''
    // The reply tells which tier answered; without it, the requested one counts.
    const tier = tierIn(serviceTier == null ? fieldsOrNone(invocation.request) : { service_tier: serviceTier })
    const model = invocation.model ?? NO_MODEL
    const costMicros = upstreamCost(usage, model, prices, tier)
    const costUsd = toUsd(costMicros)
    // A client that disconnects before the first word pays nothing.
    const isPaidFor = isHad && (error === null || observed !== null)
    if (isPaidFor && observed === UNCOUNTED) invocation.bill.cutOff()
    const price = () => appliedPrice(usage, model, prices, tier)
    const spend = invocation.bill.attempted({
      callId,
      model: name,
      upstream: provider.name,
      path: `/v1${invocation.path}`,
      costMicros,
      price,
      usage,
      latencyMs: elapsedMs(),
      isHad: isPaidFor,
    })
    if (!invocation.isRecorded) return { callId, usage, costUsd, price }
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
      usage,
      upstream_cost_usd: isRaceLost(error) ? null : costUsd,
      error: error && recordedError(error, provider, storeContent),
    }
    if (storeContent)
      recorded.content = {
        request: invocation.request,
        answer: answer === undefined ? (generated?.().text ?? null) : answer,
      }
    calls.record(recorded, context, spend, made)
    return { callId, usage, costUsd, price }
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
