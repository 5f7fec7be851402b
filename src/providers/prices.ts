import { MICROS_PER_USD, type Micros } from '../text/money.ts'
import { type Catalogue, FLAT_MODELS, type ModelPrices, type PresetModel, type TokenPrices } from './preset.ts'
import type { Usage } from './token-usage.ts'

/** Prices from the configuration. */
export interface Prices {
  /** US dollars per 1,000,000 tokens, by model id. */
  models: Readonly<Record<string, ModelPrices>>
  /** Flat price in US dollars per 1,000 tokens of any kind, when no other price is known. */
  price_per_1k_tokens_usd: number
}

/** Properties of a model that determine its price. */
export interface PricedModel {
  /** Name in the request. */
  requested: string
  /** Id at the upstream. */
  upstream: string
  /** Catalogue of the preset that answers. Empty for a base URL. */
  catalogue: Catalogue
  /** Set when the upstream does not know the requested name and another model answers, at its own price. */
  isStandIn?: true
}

/** A price and its origin. */
export type PriceInForce = { prices: ModelPrices } & (
  | { from: 'configuration'; id: string }
  | { from: 'catalogue'; id: string; source: string; date: string }
  /** `isUnknown`: the catalogue lists the model without a price. */
  | { from: 'flat'; isUnknown: boolean }
)

/** Number of tokens that a price refers to. */
const UNIT = 1_000_000

/**
 * Price that applies to a model. Precedence, highest first:
 * 1. the configuration, by requested name or upstream id;
 * 2. the catalogue of the preset that answers;
 * 3. the flat price.
 *
 * Own names of metered calls skip the catalogue. A stand-in is priced by its upstream id alone.
 *
 * @example
 * const gpt = { requested: 'gpt-5', upstream: 'gpt-5', catalogue: {} }
 * priceOf(gpt, { models: {}, price_per_1k_tokens_usd: 0.01 }).from // 'flat'
 */
export function priceOf({ requested, upstream, catalogue, isStandIn }: PricedModel, prices: Prices): PriceInForce {
  const flat = { prices: flatPrices(prices), from: 'flat' } as const
  const asked = isStandIn && !FLAT_MODELS.has(requested) ? undefined : own(prices.models, requested)
  if (asked) return { prices: asked, from: 'configuration', id: requested }
  if (FLAT_MODELS.has(requested)) return { ...flat, isUnknown: false }
  const configured = own(prices.models, upstream)
  if (configured) return { prices: configured, from: 'configuration', id: upstream }
  const known = inCatalogue(catalogue, upstream)
  if (known === null || known.model.prices === 'unknown') return { ...flat, isUnknown: known !== null }
  const { id, model } = known
  return { prices: known.model.prices, from: 'catalogue', id, source: model.source, date: model.date }
}

/** Tiers with the standard price, by their names in the APIs of OpenAI, Groq and Anthropic. */
const STANDARD: ReadonlySet<string> = new Set(['auto', 'default', 'standard', 'standard_only', 'on_demand'])

/** Reads the `service_tier` of a request or a reply. Null for the standard one, and without one. */
export const tierIn = ({ service_tier: tier }: { service_tier?: unknown }): string | null =>
  typeof tier === 'string' && !STANDARD.has(tier) ? tier : null

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
  tier: string | null = null,
): Micros {
  if (!usage) return 0
  const rates = ratesOfCall(ratesFor(model, prices), tier, usage.prompt_tokens)
  const { input, output, cachedInput, cacheWrite, cacheWriteHour } = rates
  const { prompt_tokens: prompt, completion_tokens: completion } = usage
  const { cached_tokens: cached = 0, cache_write_tokens: written = 0, cache_write_1h_tokens: forAnHour = 0 } = usage
  return roundedUp(
    (prompt - cached - written) * input +
      cached * cachedInput +
      (written - forAnHour) * cacheWrite +
      forAnHour * cacheWriteHour +
      completion * output,
  )
}

/** Rates of one call in US dollars per 1,000,000 tokens, with their source: its cost can be computed again from them. */
export type AppliedPrice = TokenPrices & { tier: string | null } & (
    | { from: 'configuration'; id: string }
    | { from: 'catalogue'; id: string; source: string; date: string }
    | { from: 'flat' }
  )

/** Returns the rates that {@link upstreamCost} takes for a call. */
export function appliedPrice(
  usage: Usage | null,
  model: PricedModel,
  prices: Prices,
  tier: string | null = null,
): AppliedPrice {
  const { prices: _, ...origin } = priceOf(model, prices)
  const rates = ratesOfCall(ratesFor(model, prices), tier, usage?.prompt_tokens ?? 0)
  const usd = (perUnit: Micros) => perUnit / MICROS_PER_USD
  return {
    input: usd(rates.input),
    output: usd(rates.output),
    cached_input: usd(rates.cachedInput),
    cache_write: usd(rates.cacheWrite),
    cache_write_1h: usd(rates.cacheWriteHour),
    tier,
    ...(origin.from === 'flat' ? { from: 'flat' } : origin),
  }
}

/** Tokens whose cost is bounded. */
export interface BoundedTokens {
  prompt: number
  answer: number
  /** Requested service tier. Null for the standard one. */
  tier?: string | null
  /** Tokens of the whole prompt; `prompt` by default. */
  wholePrompt?: number
  /** True when the request asks the provider to keep its prompt for an hour. */
  isKeptForHour?: boolean
}

/**
 * Upper bound of the cost of some tokens with any of the models, with the whole prompt at the dearest rate that the request
 * may cause. A requested
 * tier may be answered by the standard one, so the dearer of both counts.
 */
export function maxCost(
  { prompt, answer, tier = null, wholePrompt = prompt, isKeptForHour = false }: BoundedTokens,
  models: readonly PricedModel[],
  prices: Prices,
): Micros {
  const costs = models.map((model) => {
    const card = ratesFor(model, prices)
    const standard = ratesOfCall(card, null, wholePrompt)
    const rates = tier === null ? standard : dearer(standard, ratesOfCall(card, tier, wholePrompt))
    const { input, cachedInput, cacheWrite, cacheWriteHour, output } = rates
    const written = isKeptForHour ? Math.max(cacheWrite, cacheWriteHour) : cacheWrite
    return roundedUp(prompt * Math.max(input, cachedInput, written) + answer * output)
  })
  return Math.max(...costs)
}

/** The flat price, as the prices of a model. */
export function flatPrices({ price_per_1k_tokens_usd }: Prices): ModelPrices {
  const usd = (Math.round(price_per_1k_tokens_usd * MICROS_PER_USD) * 1000) / MICROS_PER_USD
  return { input: usd, output: usd }
}

/** Dearest rate of a model in US dollars per 1,000 tokens, rounded up to whole micro-dollars. */
export function dearestPer1k(prices: ModelPrices): number {
  const { long, dearest } = cardOf(prices)
  const rates = long === null ? dearest : dearer(dearest, long.rates)
  return Math.ceil(Math.max(...Object.values(rates)) / 1000) / MICROS_PER_USD
}

/** Cache of rates. A model is the same object in all calls to it. */
const known = new WeakMap<PricedModel, { of: Prices; card: RateCard }>()

function ratesFor(model: PricedModel, prices: Prices): RateCard {
  const found = known.get(model)
  if (found?.of === prices) return found.card
  const card = cardOf(priceOf(model, prices).prices)
  known.set(model, { of: prices, card })
  return card
}

type Rates = ReturnType<typeof ratesOf>

interface RateCard {
  standard: Rates
  tiers: ReadonlyMap<string, Rates>
  /** Dearest rates over the tiers, for a tier without a known price. */
  dearest: Rates
  long: { above: number; rates: Rates } | null
}

function cardOf({ long_prompt: long, service_tiers = {}, ...prices }: ModelPrices): RateCard {
  const standard = ratesOf(prices)
  const tiers = new Map(Object.entries(service_tiers).map(([tier, of]) => [tier, ratesOf(of)]))
  return {
    standard,
    tiers,
    dearest: [...tiers.values()].reduce(dearer, standard),
    long: long ? { above: long.above, rates: ratesOf(long) } : null,
  }
}

/** Rates of one call. Where a tier meets a long prompt, or has no known price, the dearest that apply. */
function ratesOfCall({ standard, tiers, dearest, long }: RateCard, tier: string | null, prompt: number): Rates {
  const rates = tier === null ? standard : (tiers.get(tier) ?? dearest)
  if (long === null || prompt <= long.above) return rates
  return tier === null ? long.rates : dearer(rates, long.rates)
}

const dearer = (one: Rates, other: Rates): Rates => ({
  input: Math.max(one.input, other.input),
  output: Math.max(one.output, other.output),
  cachedInput: Math.max(one.cachedInput, other.cachedInput),
  cacheWrite: Math.max(one.cacheWrite, other.cacheWrite),
  cacheWriteHour: Math.max(one.cacheWriteHour, other.cacheWriteHour),
})

/** Whole micro-dollars per 1,000,000 tokens. Unknown rates fall back to the input rate. */
function ratesOf({ input, output, cached_input, cache_write, cache_write_1h }: TokenPrices) {
  const write = cache_write ?? input
  return {
    input: micros(input),
    output: micros(output),
    cachedInput: micros(cached_input ?? input),
    cacheWrite: micros(write),
    cacheWriteHour: micros(cache_write_1h ?? write),
  }
}

const micros = (usd: number): Micros => Math.round(usd * MICROS_PER_USD)

const roundedUp = (microsPerUnit: number): Micros => Math.ceil(microsPerUnit / UNIT)

/** Own properties only: a client may ask for a model named `constructor`. */
const own = <T>(models: Readonly<Record<string, T>>, id: string): T | undefined =>
  Object.hasOwn(models, id) ? models[id] : undefined

const SNAPSHOT = /^(.+)-(20\d\d)-?([01]\d)-?([0-3]\d)$/

/**
 * Finds a model in a catalogue. An unlisted dated snapshot (`gpt-5-2025-08-07`, `claude-haiku-4-5-20251001`) takes the
 * price of its base model, unless the snapshot is newer than the price.
 */
function inCatalogue(catalogue: Catalogue, id: string): { id: string; model: PresetModel } | null {
  const listed = own(catalogue, id)
  if (listed) return { id, model: listed }
  const [, base = '', year, month, day] = SNAPSHOT.exec(id) ?? []
  const model = own(catalogue, base)
  if (!model || `${year}-${month}-${day}`.slice(0, model.date.length) > model.date) return null
  return { id: base, model }
}
