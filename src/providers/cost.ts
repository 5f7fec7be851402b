import { MICROS_PER_USD, type Micros } from '../text/money.ts'
import { MEDIA, type Medium, type TokenPrices } from './preset.ts'
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
import { dearer, pricesWith, RATES_OF, type Rates, ratesOfCall } from './rates.ts'
import { type CallTier, STANDARD_TIER, type TierFields, tierIn, tierName } from './tiers.ts'
import { type MediaTokens, NO_MEDIA_COUNTED, type Usage, type UsagePart } from './token-usage.ts'

/** Number of tokens that a price refers to. */
const UNIT = 1_000_000

/** Everything that a call used. */
export interface UsedByCall {
  usage: Usage | null
  /** Tokens by model, when several used them. Null or absent for one. */
  parts?: readonly UsagePart[] | null
  /** Tokens of media among them. Absent for {@link NO_MEDIA_COUNTED}. */
  media?: MediaTokens
  /** Uses of tools with a fee. */
  uses?: Readonly<Partial<Record<FeeUnit, number>>>
  tier: CallTier
  /** Cost that the provider states, in micro-dollars. Null where it states none, or is not believed. */
  stated: Micros | null
}

/**
 * Cost of a call, and its origin: its tokens, each at the price of its model, and the fees of tools. A cost that the
 * provider states takes precedence, but for models with a fixed price, and for one of 0 where the model has a price.
 * Images whose tokens have a cost are not charged by the piece as well.
 */
export function costOfCall(used: UsedByCall, model: PricedModel, prices: Prices): { micros: Micros; from: CostOrigin } {
  const { uses = {}, stated } = used
  const from = originOf(model, prices)
  if (stated !== null && from !== 'fixed' && (stated > 0 || isUnpriced(from))) return { micros: stated, from: 'stated' }
  const tokens = costOfTokens(used, model, prices)
  let fees = 0
  for (const unit in uses)
    if (unit !== 'image' || tokens === 0) fees += feesOf(unit as FeeUnit, uses[unit as FeeUnit] ?? 0, model, prices)
  return { micros: tokens + fees, from }
}

/** Like {@link upstreamCost}, also where several models used the tokens, each with prices of its own. */
function costOfTokens({ usage, parts = null, media, tier }: UsedByCall, model: PricedModel, prices: Prices): Micros {
  if (usage === null || parts === null) return upstreamCost(usage, model, prices, tier, media)
  const costs = parts.map((part) => exactCost(part.usage, pricedBy(part.model, model, prices), prices, tier))
  return roundedUp(costs.reduce((all, one) => all + one, 0))
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
  media = NO_MEDIA_COUNTED,
): Micros {
  return usage ? roundedUp(exactCost(usage, model, prices, tier, media)) : 0
}

/** Cost of tokens at the prices of one model, in millionths of a micro-dollar. */
export function exactCost(
  usage: Usage,
  model: PricedModel,
  prices: Prices,
  tier: CallTier,
  media = NO_MEDIA_COUNTED,
): number {
  const rates = ratesOfCall(cardFor(model, prices), tier, usage.prompt_tokens)
  const { input, output, cachedInput, cacheWrite, cacheWriteHour } = rates
  const { prompt_tokens: prompt, completion_tokens: completion } = usage
  const { cached_tokens: cached = 0, cache_write_tokens: written = 0, cache_write_1h_tokens: forAnHour = 0 } = usage
  return (
    (prompt - cached - written) * input +
    cached * cachedInput +
    (written - forAnHour) * cacheWrite +
    forAnHour * cacheWriteHour +
    completion * output +
    costBesideText(usage, media, rates)
  )
}

/** Cost of the media of a call beyond that of as many tokens of text. */
function costBesideText(usage: Usage, media: MediaTokens, rates: Rates): number {
  if (!MEDIA.some((medium) => hasOwnRates(medium, rates))) return 0
  const counted = countedMedia(usage, media, rates)
  return MEDIA.reduce((sum, medium) => {
    const { input, cached, output } = RATES_OF[medium]
    const { fresh, read, made } = counted[medium]
    const more = fresh * (rates[input] - rates.input) + read * (rates[cached] - rates.cachedInput)
    return sum + more + made * (rates[output] - rates.output)
  }, 0)
}

function hasOwnRates(medium: Medium, rates: Rates): boolean {
  const { input, cached, output } = RATES_OF[medium]
  return rates[input] !== rates.input || rates[cached] !== rates.cachedInput || rates[output] !== rates.output
}

/** Tokens of a medium by their rate: of the prompt, of that from the cache, and of the answer. */
interface CountedMedium {
  fresh: number
  read: number
  made: number
}

/** Divides the tokens of a call among its media. What a usage does not count is of the dearest medium that it may be. */
function countedMedia(usage: Usage, media: MediaTokens, rates: Rates): Record<Medium, CountedMedium> {
  const { prompt_tokens, cached_tokens = 0, cache_write_tokens = 0 } = usage
  const left = {
    fresh: prompt_tokens - cached_tokens - cache_write_tokens,
    read: cached_tokens,
    made: usage.completion_tokens,
  }
  const counted = { audio: { ...NOTHING }, image: { ...NOTHING }, video: { ...NOTHING } }
  function take(medium: Medium, kind: keyof CountedMedium, tokens: number): number {
    const taken = Math.min(tokens, left[kind])
    left[kind] -= taken
    counted[medium][kind] += taken
    return tokens - taken
  }
  for (const medium of MEDIA) {
    const { input, output } = media[medium]
    take(medium, 'read', take(medium, 'fresh', input ?? 0))
    take(medium, 'made', output ?? 0)
  }
  const heard = dearestUncounted('input', media, rates)
  if (heard !== null) take(heard, 'read', take(heard, 'fresh', Number.POSITIVE_INFINITY))
  const made = dearestUncounted('output', media, rates)
  if (made !== null) take(made, 'made', Number.POSITIVE_INFINITY)
  return counted
}

const NOTHING: CountedMedium = { fresh: 0, read: 0, made: 0 }

/** Finds the dearest of the media that a usage does not count. Null where text is dearer. */
function dearestUncounted(part: 'input' | 'output', media: MediaTokens, rates: Rates): Medium | null {
  const rateOf = (medium: Medium | null): number => rates[medium === null ? part : RATES_OF[medium][part]]
  return MEDIA.filter((medium) => media[medium][part] === null).reduce<Medium | null>(
    (dearest, medium) => (rateOf(medium) > rateOf(dearest) ? medium : dearest),
    null,
  )
}

/** Rates of one call in US dollars per 1,000,000 tokens, with their source: its cost can be computed again from them. */
export type AppliedPrice = TokenPrices & { tier: string | null; mixed?: true } & Partial<
    Record<Medium, AppliedMedium>
  > &
  (
    | { from: 'configuration'; id: string }
    | { from: 'catalogue'; id: string; source: string; date: string }
    | { from: 'fixed' | 'free' | 'dearest' | 'flat' }
  )

/** Tokens of a medium in a call; the others are text. */
export interface AppliedMedium {
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
  media = NO_MEDIA_COUNTED,
): AppliedPrice {
  const { prices: _, ...origin } = priceFor(model, prices)
  const rates = ratesOfCall(cardFor(model, prices), tier, usage?.prompt_tokens ?? 0)
  const applied = usage === null ? [] : appliedMedia(usage, media, rates)
  const used = applied.map(([medium]) => medium)
  return {
    ...pricesWith(used, rates),
    tier: tierName(tier),
    ...origin,
    // The last members: sums of receipts are stored without them.
    ...Object.fromEntries(applied),
  }
}

/** Tokens of the media of a call that do not cost the same as text. */
function appliedMedia(usage: Usage, media: MediaTokens, rates: Rates): (readonly [Medium, AppliedMedium])[] {
  const priced = MEDIA.filter((medium) => hasOwnRates(medium, rates))
  if (priced.length === 0) return []
  const counted = countedMedia(usage, media, rates)
  return priced.flatMap((medium) => {
    const { fresh, read, made } = counted[medium]
    const tokens = { input_tokens: fresh, cached_input_tokens: read, output_tokens: made }
    return fresh + read + made === 0 ? [] : [[medium, tokens] as const]
  })
}

/** Media whose prompts have another rate than text has. */
export function mediaWithOwnInput(model: PricedModel, prices: Prices): readonly Medium[] {
  const { standard } = cardFor(model, prices)
  return MEDIA.filter((medium) => standard[RATES_OF[medium].input] !== standard.input)
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
  /** Media that the prompt may have. */
  media?: readonly Medium[]
}

/**
 * Upper bound of the cost of some tokens with any of the models, with the whole prompt at the dearest rate that the request
 * may cause. A requested tier may be answered by the standard one, so the dearer of both counts.
 */
export function maxCost(tokens: BoundedTokens, models: readonly PricedModel[], prices: Prices): Micros {
  const { prompt, answer, cached = 0, isKeptForHour = false, media = [] } = tokens
  const costs = models.map((model) => {
    const rates = dearestOfCall(tokens, model, prices)
    const { input, cachedInput, cacheWrite, cacheWriteHour, output } = rates
    const written = isKeptForHour ? Math.max(cacheWrite, cacheWriteHour) : cacheWrite
    const fresh = Math.max(input, cachedInput, written, ...media.map((medium) => rates[RATES_OF[medium].input]))
    const known = Math.max(cachedInput, ...MEDIA.map((medium) => rates[RATES_OF[medium].cached]))
    const made = Math.max(output, ...MEDIA.map((medium) => rates[RATES_OF[medium].output]))
    return roundedUp(prompt * fresh + cached * known + answer * made)
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
