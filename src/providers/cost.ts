import { MICROS_PER_USD, type Micros } from '../text/money.ts'
import type { TokenPrices } from './preset.ts'
import type { FeeUnit } from './priced-fields.ts'
import {
  type CostOrigin,
  cardFor,
  isUnpriced,
  originOf,
  type PricedModel,
  type Prices,
  pricedBy,
  priceFor,
} from './prices.ts'
import { presetOf } from './providers.ts'
import { dearer, pricesOf, type Rates, ratesOfCall } from './rates.ts'
import { type CallTier, STANDARD_TIER, type TierFields, tierIn, tierName } from './tiers.ts'
import { type AudioTokens, NO_AUDIO_COUNTED, type Usage, type UsagePart } from './token-usage.ts'

/** Number of tokens that a price refers to. */
const UNIT = 1_000_000

/** Everything that a call used. */
export interface UsedByCall {
  usage: Usage | null
  /** Tokens by model, when several used them. Null or absent for one. */
  parts?: readonly UsagePart[] | null
  /** Tokens of speech among them. Absent for {@link NO_AUDIO_COUNTED}. */
  audio?: AudioTokens
  /** Uses of tools with a fee. */
  uses?: Readonly<Partial<Record<FeeUnit, number>>>
  tier: CallTier
  /** Cost that the provider states, in micro-dollars. Null where it states none, or is not believed. */
  stated: Micros | null
}

/**
 * Cost of a call, and its origin: its tokens, each at the price of its model, and the fees of tools. A cost that the
 * provider states takes precedence, but for models with a fixed price, and for one of 0 where the model has a price.
 */
export function costOfCall(used: UsedByCall, model: PricedModel, prices: Prices): { micros: Micros; from: CostOrigin } {
  const { usage, parts = null, audio = NO_AUDIO_COUNTED, uses = {}, tier, stated } = used
  const from = originOf(model, prices)
  if (stated !== null && from !== 'fixed' && (stated > 0 || isUnpriced(from))) return { micros: stated, from: 'stated' }
  let fees = 0
  for (const unit in uses) fees += feesOf(unit as FeeUnit, uses[unit as FeeUnit] ?? 0, model, prices)
  if (usage === null) return { micros: fees, from }
  if (parts === null) return { micros: roundedUp(exactCost(usage, model, prices, tier, audio)) + fees, from }
  const costs = parts.map((part) => exactCost(part.usage, pricedBy(part.model, model, prices), prices, tier))
  return { micros: roundedUp(costs.reduce((all, one) => all + one, 0)) + fees, from }
}

/**
 * Cost of a call at the upstream, in micro-dollars: tokens × price, summed over the kinds of tokens. Rounded up once,
 * to a whole micro-dollar, so that no fraction is given away.
 *
 * @param tier service tier that answered. Null for the standard one
 */
export function upstreamCost(
  usage: Usage | null,
  model: PricedModel,
  prices: Prices,
  tier: CallTier = STANDARD_TIER,
): Micros {
  return usage ? roundedUp(exactCost(usage, model, prices, tier)) : 0
}

/** Cost of tokens at the prices of one model, in millionths of a micro-dollar. */
export function exactCost(
  usage: Usage,
  model: PricedModel,
  prices: Prices,
  tier: CallTier,
  audio = NO_AUDIO_COUNTED,
): number {
  const rates = ratesOfCall(cardFor(model, prices), tier, usage.prompt_tokens)
  const { input, output, cachedInput, cacheWrite, cacheWriteHour, audioInput, cachedAudioInput, audioOutput } = rates
  const { prompt_tokens: prompt, completion_tokens: completion } = usage
  const { cached_tokens: cached = 0, cache_write_tokens: written = 0, cache_write_1h_tokens: forAnHour = 0 } = usage
  const heard = audioIn(usage, audio)
  return (
    (prompt - cached - written) * input +
    cached * cachedInput +
    (written - forAnHour) * cacheWrite +
    forAnHour * cacheWriteHour +
    completion * output +
    heard.fresh * (audioInput - input) +
    heard.cached * (cachedAudioInput - cachedInput) +
    heard.spoken * (audioOutput - output)
  )
}

/** Tokens of speech by their rate: of the prompt, of that from the cache, and of the answer. */
function audioIn(usage: Usage, { input, output }: AudioTokens): { fresh: number; cached: number; spoken: number } {
  const {
    prompt_tokens: prompt,
    completion_tokens: completion,
    cached_tokens: read = 0,
    cache_write_tokens = 0,
  } = usage
  const fresh = Math.min(input, prompt - read - cache_write_tokens)
  return { fresh, cached: Math.min(input - fresh, read), spoken: Math.min(output ?? completion, completion) }
}

/** Rates of one call in US dollars per 1,000,000 tokens, with their source: its cost can be computed again from them. */
export type AppliedPrice = TokenPrices & { tier: string | null; mixed?: true; audio?: AppliedAudio } & (
    | { from: 'configuration'; id: string }
    | { from: 'catalogue'; id: string; source: string; date: string }
    | { from: 'fixed' | 'free' | 'dearest' | 'flat' }
  )

/** Tokens of speech in a call; the others are text. */
export interface AppliedAudio {
  input_tokens: number
  cached_input_tokens: number
  output_tokens: number
}

/** Returns the rates that {@link costOfCall} takes for a call. */
export function appliedPrice(
  usage: Usage | null,
  model: PricedModel,
  prices: Prices,
  tier: CallTier = STANDARD_TIER,
  audio = NO_AUDIO_COUNTED,
): AppliedPrice {
  const { prices: _, ...origin } = priceFor(model, prices)
  const rates = ratesOfCall(cardFor(model, prices), tier, usage?.prompt_tokens ?? 0)
  const { audio_input, cached_audio_input, audio_output, ...text } = pricesOf(rates)
  const spoken = usage && appliedAudio(usage, audio, rates)
  return {
    ...text,
    ...(spoken !== null && { audio_input, cached_audio_input, audio_output }),
    tier: tierName(tier),
    ...origin,
    // The last member: sums of receipts are stored without it.
    ...(spoken !== null && { audio: spoken }),
  }
}

/** Tokens of speech of a call. Null where there are none, or where they cost the same as text. */
function appliedAudio(usage: Usage, audio: AudioTokens, rates: Rates): AppliedAudio | null {
  const { audioInput, input, cachedAudioInput, cachedInput, audioOutput, output } = rates
  if (audioInput === input && cachedAudioInput === cachedInput && audioOutput === output) return null
  const { fresh, cached, spoken } = audioIn(usage, audio)
  if (fresh + cached + spoken === 0) return null
  return { input_tokens: fresh, cached_input_tokens: cached, output_tokens: spoken }
}

/** Tells whether the prompts of a model have another rate where they are spoken. */
export function hearsAtOwnRate(model: PricedModel, prices: Prices): boolean {
  const { audioInput, input } = cardFor(model, prices).standard
  return audioInput !== input
}

/** Tokens whose cost is bounded. */
export interface BoundedTokens {
  prompt: number
  answer: number
  /** Further tokens of the prompt, which the provider has in its cache. */
  cached?: number
  /** Tiers that the request names; any of them may answer. */
  tiers?: readonly TierFields[]
  /** Tokens of the whole prompt; `prompt` and `cached` by default. */
  wholePrompt?: number
  /** True when the request asks the provider to keep its prompt for an hour. */
  isKeptForHour?: boolean
  /** True when the prompt may have speech. */
  hasAudio?: boolean
}

/**
 * Upper bound of the cost of some tokens with any of the models, with the whole prompt at the dearest rate that the request
 * may cause. A requested tier may be answered by the standard one, so the dearer of both counts.
 */
export function maxCost(tokens: BoundedTokens, models: readonly PricedModel[], prices: Prices): Micros {
  const { prompt, answer, cached = 0, isKeptForHour = false, hasAudio = false } = tokens
  const costs = models.map((model) => {
    const { input, cachedInput, cacheWrite, cacheWriteHour, output, ...of } = dearestOfCall(tokens, model, prices)
    const heard = hasAudio ? of.audioInput : 0
    const written = isKeptForHour ? Math.max(cacheWrite, cacheWriteHour) : cacheWrite
    const known = Math.max(cachedInput, of.cachedAudioInput)
    const fresh = Math.max(input, cachedInput, written, heard)
    return roundedUp(prompt * fresh + cached * known + answer * Math.max(output, of.audioOutput))
  })
  return Math.max(...costs)
}

/** Dearest rates at which a request may be answered by a model. */
function dearestOfCall(
  { prompt, cached = 0, wholePrompt = prompt + cached, tiers = [] }: Omit<BoundedTokens, 'answer'>,
  model: PricedModel,
  prices: Prices,
): Rates {
  const card = cardFor(model, prices)
  let rates = ratesOfCall(card, STANDARD_TIER, wholePrompt)
  for (const fields of tiers) {
    const tier = tierIn(fields, model.project)
    if (tier !== STANDARD_TIER) rates = dearer(rates, ratesOfCall(card, tier, wholePrompt))
  }
  return rates
}

/** Highest rates of input and output, in US dollars for 1,000,000 tokens, that a reservation pays for. */
export function ceilingOf(
  tokens: Omit<BoundedTokens, 'answer'>,
  models: readonly PricedModel[],
  prices: Prices,
): { prompt: number; completion: number } {
  const { input, output } = models.map((model) => dearestOfCall(tokens, model, prices)).reduce(dearer)
  return { prompt: input / MICROS_PER_USD, completion: output / MICROS_PER_USD }
}

/**
 * Price of one use of a tool, in micro-dollars. 0 for one that is free or unknown, and where the price is fixed or nothing
 * is charged.
 */
function feeOf(unit: FeeUnit, model: PricedModel, prices: Prices): Micros {
  const from = originOf(model, prices)
  if (from === 'fixed' || from === 'free') return 0
  const set = cardFor(model, prices).units[unit]
  const { fees } = presetOf(model.vendor ?? '')?.pricedFields ?? {}
  return set ?? (typeof fees === 'function' ? fees(model.upstream) : fees)?.[unit] ?? 0
}

/** Price of some uses, or of seconds of a recording, in whole micro-dollars. */
export function feesOf(unit: FeeUnit, times: number, model: PricedModel, prices: Prices): Micros {
  const { leastSeconds = 0 } = presetOf(model.vendor ?? '')?.pricedFields ?? {}
  const charged = unit === 'audio_second' && times > 0 ? Math.max(times, leastSeconds) : times
  // Less than what numbers are inexact by.
  return Math.ceil(charged * feeOf(unit, model, prices) - 1e-6)
}

/** Tells whether a model has a price of recordings alone, by their length. */
export function isByLength(model: PricedModel, prices: Prices): boolean {
  const { input, output } = cardFor(model, prices).standard
  return input === 0 && output === 0 && feeOf('audio_second', model, prices) > 0
}

const roundedUp = (microsPerUnit: number): Micros => Math.ceil(microsPerUnit / UNIT)
