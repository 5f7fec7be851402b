import { createHash } from 'node:crypto'
import * as z from 'zod'
import { type Base, logged } from '../base.ts'
import type { CallContext } from '../calls/call-record.ts'
import type { Followed } from '../config/follow.ts'
import { GazewayError } from '../errors.ts'
import type { Upstream } from '../inference/inference.ts'
import type { MeteredCallRow } from '../store/tables/wallet-tables.ts'
import { newId } from '../text/ids.ts'
import type { Micros } from '../text/money.ts'
import type { Holds, NewHold } from '../wallet/receipts/holds.ts'
import { requireMeteredModel } from '../wallet/receipts/metered-models.ts'
import { marginOf, type PricingConfig, pricingOf } from '../wallet/receipts/pricing.ts'
import type { Receipt } from '../wallet/receipts/receipt.ts'
import { billedReceipt } from '../wallet/receipts/receipts.ts'
import { parseInput } from '../wire/validation.ts'
import { askModel, type ModelCall, needsResponses } from './ask-model.ts'
import { MeteredCall } from './metered-call.ts'
import { worstCase } from './worst-case.ts'

/** Grace period after a call's deadline before its hold may be released: time to write the receipt. */
const GRACE_MS = 60_000

/** Limits of metered calls. */
export interface MeteringConfig {
  max_output_tokens: number
  max_prompt_bytes: number
  search_tokens: number
  call_timeout_ms: number
}

/** Caller of a metered call, and its options. */
export interface Metered {
  /** Id of the key or wallet that pays. Never the key itself. */
  callerId: string
  /**
   * Requests with the same key and call return the same receipt for 24 h and are charged once. Printable ASCII, at most
   * 255 characters.
   */
  idempotencyKey?: string | undefined
  context: CallContext
  /** Told when the receipt is that of an earlier call under the same key. */
  onReplayed?: () => void
}

/** Dependencies of metered calls. */
export interface MeteringDeps {
  holds: Holds
  upstream: Pick<Upstream, 'provider' | 'requireKey' | 'chat' | 'respond'>
  config: MeteringConfig
  pricing: PricingConfig
  countTokens: (text: string) => Promise<number>
  now: () => Date
  /** Called when a hold could not be released at once. A sweep retries it. */
  onError: (error: unknown) => void
}

/**
 * Makes a call and charges for it:
 * 1. Reserves the worst case.
 * 2. Calls the upstream.
 * 3. Captures the cost plus margin, or releases the hold when the upstream fails.
 *
 * Returns the receipt once the charge is durable.
 *
 * @throws GazewayError `validation_failed`, `model_not_supported`, `payload_too_large`, `insufficient_credit`,
 *   `budget_reached`, `idempotency_key_reused`, `idempotency_in_flight`, `upstream_not_configured`, `cancelled`,
 *   `service_stopping`, or the upstream's failure (502, 504); nothing is charged then
 */
export type MakeMeteredCall = (input: unknown, metered: Metered) => Promise<Receipt>

/** Metered calls: the specification's endpoint that answers with a receipt. */
export interface Metering {
  call: MakeMeteredCall
  /**
   * Validates a call, independent of its payer.
   *
   * @throws GazewayError `validation_failed`, `model_not_supported`, `payload_too_large` or `upstream_not_configured`
   */
  check(call: unknown): void
  /**
   * Upper bound of a call's cost, which is reserved for it.
   *
   * @throws as `check`
   */
  maxCostOf(call: unknown): Promise<Micros>
  /**
   * Tells whether a call was already charged under this key, so that a replay is free.
   *
   * @throws as `check`
   */
  isCharged(call: unknown, of: { callerId: string; idempotencyKey: string }): Promise<boolean>
}

/** Creates metered calls to `upstream`, charged through `holds`. */
export function createMetering(deps: MeteringDeps): Metering {
  return {
    call: createMeteredCall(deps),
    check: (call) => void checkCall(call, deps),
    maxCostOf: async (call) => maxCostOf(checkCall(call, deps), deps),
    isCharged: (call, of) => deps.holds.isCaptured({ ...of, fingerprint: fingerprintOf(checkCall(call, deps)) }),
  }
}

/** Opens the room: metered calls follow prices, their limits and the upstreams. */
export function liveMetering(
  base: Base,
  deps: Pick<MeteringDeps, 'holds' | 'countTokens'> & { upstreams: Followed<Upstream> },
): Metering {
  const { upstreams, ...rest } = deps
  const onError = logged(base, 'Failed to release reserved money; will retry.')
  return base.config.follow(
    (config) => ({
      config: config.wallet,
      pricing: pricingOf(config),
      upstreams: [config.upstream, config.upstreams, config.routes, config.audit.store_content],
    }),
    // Not the following upstream: a call ends on the upstream, and at the prices, that its money was reserved for.
    ({ config, pricing }) =>
      createMetering({ ...rest, config, pricing, upstream: upstreams.now(), now: base.now, onError }),
  ).always
}

function createMeteredCall(deps: MeteringDeps): MakeMeteredCall {
  const { holds, upstream, config, pricing, now, onError } = deps

  async function holdFor(call: ModelCall, { callerId, idempotencyKey }: Metered): Promise<NewHold> {
    const marginMicros = marginOf(pricing)
    const micros = await maxCostOf(call, deps)
    const at = now()
    return {
      callId: newId('call'),
      callerId,
      model: call.model,
      at: at.toISOString(),
      deadline: new Date(at.getTime() + config.call_timeout_ms + GRACE_MS).toISOString(),
      micros,
      marginMicros,
      token: pricing.token,
      idempotencyKey: idempotencyKey ?? null,
      fingerprint: idempotencyKey === undefined ? null : fingerprintOf(call),
    }
  }

  /**
   * Reserves the worst case.
   *
   * @returns the receipt of an earlier call with the same idempotency key; null when the money was reserved
   */
  async function reserve(hold: NewHold): Promise<Receipt | null> {
    for (;;) {
      const earlier = await holds.reserve(hold)
      if (earlier === null) return null
      if (earlier.fingerprint !== hold.fingerprint) throw keyReused()
      if (earlier.status === 'captured') return replayed(earlier)
      if (earlier.deadline > hold.at) throw inFlight()
      // The first attempt died without settling, and this one retries it.
      await holds.release(earlier.call_id)
    }
  }

  /** Releases the hold when the work fails or its charge cannot be written. */
  async function holding<T>(hold: NewHold, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      await holds.release(hold.callId).catch(onError)
      throw error
    }
  }

  return async (input, metered) => {
    const started = performance.now()
    const call = checkCall(input, deps)
    const hold = await holdFor(call, metered)
    const earlier = await reserve(hold)
    if (earlier) {
      metered.onReplayed?.()
      return earlier
    }
    return holding(hold, async () => {
      const context = { ...metered.context, callerId: hold.callerId }
      const answered = await askModel(upstream, call, context, config.call_timeout_ms)
      const latencyMs = Math.round(performance.now() - started)
      const row = await holds.capture(hold, { ...answered, latencyMs })
      return billedReceipt(row, answered.content)
    })
  }
}

function checkCall(input: unknown, { config, upstream }: Pick<MeteringDeps, 'config' | 'upstream'>): ModelCall {
  const call = parseCall(input, config.max_output_tokens)
  requireMeteredModel(call.model)
  const { max_tokens = config.max_output_tokens, prompt } = call
  if (Buffer.byteLength(prompt) > config.max_prompt_bytes)
    throw new GazewayError(
      'payload_too_large',
      `prompt: longer than ${config.max_prompt_bytes} bytes of UTF-8; send less, or raise wallet.max_prompt_bytes.`,
      { param: 'prompt' },
    )
  upstream.requireKey(call.model, 'chat')
  return { ...call, max_tokens }
}

/** Parses a call within the token limit. The schema with the limit is built only to word a rejection. */
function parseCall(input: unknown, most: number): MeteredCall {
  const { data } = MeteredCall.safeParse(input)
  if (data && (data.max_tokens ?? 0) <= most) return data
  return parseInput(MeteredCall.extend({ max_tokens: z.int().min(1).max(most).optional() }), input)
}

/** Upper bound of a call's cost, with the margin. */
async function maxCostOf(
  call: ModelCall,
  { upstream, config, pricing, countTokens }: Pick<MeteringDeps, 'upstream' | 'config' | 'pricing' | 'countTokens'>,
): Promise<Micros> {
  const { provider } = upstream
  const models = needsResponses(upstream, call)
    ? [provider.resolve(call.model, 'primary'), provider.resolve(undefined, 'fallback')]
    : [provider.resolve(call.model, 'chat')]
  const reckoning = { prices: pricing, searchTokens: config.search_tokens, countTokens }
  return marginOf(pricing) + (await worstCase(reckoning, call, call.max_tokens, models))
}

/** Fingerprint that tells calls with the same idempotency key apart. */
const fingerprintOf = ({ model, prompt, max_tokens, tools }: ModelCall): string =>
  createHash('sha256')
    .update(JSON.stringify([model, prompt, max_tokens, tools]))
    .digest('hex')

function replayed(row: MeteredCallRow): Receipt {
  return billedReceipt(row, JSON.parse(row.content ?? '""'))
}

function keyReused(): GazewayError {
  return new GazewayError(
    'idempotency_key_reused',
    'This Idempotency-Key was used for a different call. Use a new key, or resend the first call unchanged.',
    { param: 'idempotency-key' },
  )
}

function inFlight(): GazewayError {
  return new GazewayError(
    'idempotency_in_flight',
    'The first call with this Idempotency-Key is still in flight. Retry soon to get its receipt.',
    { param: 'idempotency-key', retryAfterSeconds: 1 },
  )
}
