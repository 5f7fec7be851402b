import * as z from 'zod'
import type { Base } from '../base.ts'
import type { CallContext } from '../calls/call-record.ts'
import type { HotReloaded } from '../config/hot-reload.ts'
import { GazewayError } from '../errors.ts'
import type { Keep } from '../idempotency/idempotency.ts'
import type { PaidContext } from '../inference/admit/bill.ts'
import { type BillDeps, meteredBill } from '../inference/admit/reserved-bill.ts'
import { boundOfPrompt } from '../inference/admit/worst-case.ts'
import type { Upstream } from '../inference/inference.ts'
import { loadShippedCatalogue } from '../providers/shipped-catalogue.ts'
import { type Micros, toMicros } from '../text/money.ts'
import { requireMeteredModel } from '../wallet/receipts/metered-models.ts'
import { marginOf, pricingOf } from '../wallet/receipts/pricing.ts'
import type { Receipt } from '../wallet/receipts/receipt.ts'
import { billedReceipt } from '../wallet/receipts/receipts.ts'
import type { ChargedCall } from '../wallet/receipts/store-receipts.ts'
import { parseInput } from '../wire/validation.ts'
import { askModel, type ModelCall, needsResponses } from './ask-model.ts'
import { MeteredCall } from './metered-call.ts'

/** Endpoint in receipts. */
const PATH = '/api/wallet/metered/call'

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
  context: CallContext
  /** Stores the receipt in the transaction of the charge, for a repeated request. */
  keep?: Keep<Receipt> | undefined
}

/** Dependencies of metered calls. */
export interface MeteringDeps {
  upstream: Pick<Upstream, 'provider' | 'requireKey' | 'chat' | 'respond'>
  billing: BillDeps
  config: MeteringConfig
  countTokens: (text: string) => Promise<number>
}

/**
 * Makes a call and charges for it, as every charged call:
 * 1. Reserves the worst case.
 * 2. Calls the upstream.
 * 3. Charges the cost of the answer, plus margin. What failed attempts cost is recorded, and the operator bears it.
 *
 * Returns the receipt once the charge is durable.
 *
 * @throws GazewayError `validation_failed`, `model_not_supported`, `payload_too_large`, `insufficient_credit`,
 *   `budget_reached`, `debt_open`, `limit_not_kept`, `idempotency_in_flight`, `upstream_not_configured`, `cancelled`, `service_stopping`, or the
 *   upstream's failure (502, 504); nothing is charged then
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
}

/** Creates metered calls to `upstream`. */
export function createMetering(deps: MeteringDeps): Metering {
  return {
    call: createMeteredCall(deps),
    check: (call) => void checkCall(call, deps),
    maxCostOf: async (call) => marginOf(deps.billing.pricing) + (await boundOf(checkCall(call, deps), deps)).quick.most,
  }
}

/** Opens the room: metered calls follow prices, their limits and the upstreams. */
export function liveMetering(
  { config, now }: Base,
  deps: Pick<MeteringDeps, 'countTokens'> & {
    upstreams: HotReloaded<Upstream>
    billing: Pick<
      BillDeps,
      'identity' | 'reservations' | 'absorbed' | 'charge' | 'onForeignModel' | 'onAbsorbed' | 'onOverrun'
    >
  },
): Metering {
  const { upstreams, countTokens, billing } = deps
  return config.hotReload(
    (settings) => ({
      wallet: settings.wallet,
      pricing: pricingOf(settings),
      upstreams: [settings.upstream, settings.upstreams, settings.routes, settings.audit.store_content],
    }),
    ({ wallet, pricing }) => {
      const defaultCreditMicros = toMicros(wallet.default_credit_limit_usd) as Micros
      return createMetering({
        config: wallet,
        countTokens,
        billing: { ...billing, pricing, defaultCreditMicros, waitMs: wallet.wait_ms, now },
        // Not the following upstream: a call ends on the upstream, and at the prices, that its money was reserved for.
        upstream: upstreams.now(),
      })
    },
  ).always
}

function createMeteredCall(deps: MeteringDeps): MakeMeteredCall {
  const { upstream, billing, config } = deps
  return async (input, { callerId, context, keep }) => {
    const started = performance.now()
    const call = checkCall(input, deps)
    const isGone = () => context.signal?.aborted === true
    const sessionId = context.session?.session_id ?? null
    const bill = await meteredBill(
      billing,
      { callerId, sessionId, model: call.model },
      await boundOf(call, deps),
      isGone,
    )
    try {
      const asking: PaidContext = {
        ...context,
        callerId,
        onAttempt: (attempt) => void bill.attempted({ ...attempt, model: call.model, path: PATH }),
      }
      const { content, callId, usage } = await askModel(upstream, call, asking, config.call_timeout_ms)
      const latencyMs = Math.round(performance.now() - started)
      const receiptOf = (row: ChargedCall) => billedReceipt(row, content)
      const row = await bill.settle({
        ...{ callId, model: call.model, path: PATH, usage, latencyMs },
        keep: keep && ((trx, charged) => keep(trx, receiptOf(charged))),
      })
      return receiptOf(row as ChargedCall)
    } finally {
      await bill.end()
    }
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

/** Upper bound of the upstream's cost. */
async function boundOf(
  call: ModelCall,
  { upstream, config, billing, countTokens }: Pick<MeteringDeps, 'upstream' | 'config' | 'billing' | 'countTokens'>,
): Promise<Awaited<ReturnType<typeof boundOfPrompt>>> {
  await loadShippedCatalogue()
  const { provider } = upstream
  const models = needsResponses(upstream, call)
    ? [provider.resolve(call.model, 'primary'), provider.resolve(undefined, 'fallback')]
    : [provider.resolve(call.model, 'chat')]
  const { prompt, max_tokens: answerTokens, tools } = call
  const deps = { prices: billing.pricing, searchTokens: config.search_tokens, countTokens }
  return boundOfPrompt(deps, { prompt, answerTokens, isSearching: tools.length > 0 }, models)
}
