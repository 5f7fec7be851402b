import type { Micros } from '../../text/money.ts'
import type { Taken } from '../../wallet/budget/reservation.ts'
import type { PricingConfig } from '../../wallet/receipts/pricing.ts'
import type { ChargedCall } from '../../wallet/receipts/store-receipts.ts'
import type { Billed, BilledAttempt } from './billed-attempt.ts'

/** Amounts of a receipt, and what it says of them. */
export interface ReceiptTerms {
  /** Start of the call. */
  at: string
  margin: Micros
  costMicros: Micros
  token: string
  isCharged: boolean
  isCapped: boolean
  absorbedMicros: Micros
}

/** Terms of the receipt of a call whose cost is only recorded. */
export const recordedTerms = (at: Date, { token }: Pick<PricingConfig, 'token'>): ReceiptTerms => ({
  ...{ at: at.toISOString(), token, margin: 0, costMicros: 0, isCharged: false, isCapped: false, absorbedMicros: 0 },
})

/** Builds the receipt of a call. */
export function receiptOf(
  { spender, day }: Pick<Taken, 'spender' | 'day'>,
  call: Omit<Billed, 'keep'> & Pick<BilledAttempt, 'upstream' | 'price' | 'isStated'>,
  { at, margin, costMicros, token, isCharged, isCapped, absorbedMicros }: ReceiptTerms,
): ChargedCall {
  const { callId, model, path, usage, latencyMs, upstream, price, isStated } = call
  return {
    call_id: callId,
    caller_id: spender.id,
    model,
    at,
    margin_micros: margin,
    upstream_cost_micros: costMicros,
    token,
    prompt_tokens: usage?.prompt_tokens ?? 0,
    completion_tokens: usage?.completion_tokens ?? 0,
    total_tokens: usage?.total_tokens ?? 0,
    usage_estimated: Number(usage?.estimated ?? false),
    latency_ms: latencyMs,
    upstream_call_id: callId,
    path,
    counted_on: day,
    group_id: spender.groupId,
    upstream,
    price: JSON.stringify(price()),
    cached_tokens: usage?.cached_tokens ?? 0,
    cache_write_tokens: usage?.cache_write_tokens ?? 0,
    cache_write_1h_tokens: usage?.cache_write_1h_tokens ?? 0,
    charged: Number(isCharged),
    capped: Number(isCapped),
    stated: Number(isStated),
    absorbed_micros: absorbedMicros,
    debt_micros: 0,
  }
}
