import * as z from 'zod'
import { MICROS_PER_USD, type Micros } from '../text/money.ts'
import { type CatalogueFile, cataloguedModel } from './catalogue-file.ts'
import { type Catalogue, FLAT_MODELS, type ModelPrices, type PresetModel, type TokenPrices } from './preset.ts'
import { PRESETS } from './providers.ts'
import { shippedCatalogue } from './shipped-catalogue.ts'
import type { Usage } from './token-usage.ts'

/**
 * Cost of a call to a model without a price:
 * - `refuse`: it is not made;
 * - `dearest`: the dearest known price of the provider, of all providers for a base URL;
 * - `flat`: the flat price.
 */
export const UNKNOWN_PRICES = ['refuse', 'dearest', 'flat'] as const
export type UnknownPrice = (typeof UNKNOWN_PRICES)[number]

/** The same at one upstream, which may also be free: a server of one's own. */
export const UNKNOWN_PRICES_AT_UPSTREAM = [...UNKNOWN_PRICES, 'free'] as const
export type UnknownPriceAtUpstream = (typeof UNKNOWN_PRICES_AT_UPSTREAM)[number]

/**
 * Origins of a price, as records and receipts name them:
 * - `configuration`, `catalogue`: the price of the model;
 * - `fixed`: the flat price that metered models and the agent gateway have by specification;
 * - `free`, `dearest`, `flat`: the model has no price.
 */
export const PRICE_ORIGINS = ['configuration', 'catalogue', 'fixed', 'free', 'dearest', 'flat'] as const
export type PriceOrigin = (typeof PRICE_ORIGINS)[number]

/** Origins of the cost of a call; `stated`: the provider states it. */
export const CostOrigin = z.enum(['stated', ...PRICE_ORIGINS])
export type CostOrigin = z.infer<typeof CostOrigin>

/** Tells whether a cost is that of a model without a price. */
export const isUnpriced = (from: CostOrigin): boolean => from === 'flat' || from === 'dearest'

/** Prices from the configuration. */
export interface Prices {
  /** US dollars per 1,000,000 tokens, by model id. */
  models: Readonly<Record<string, ModelPrices>>
  /** Flat price in US dollars per 1,000 tokens of any kind, when no other price is known. */
  price_per_1k_tokens_usd: number
  /** Models without a price. Null or absent: `refuse` for callers with budgets or charges, else `flat`. */
  unknown?: UnknownPrice | null
  /** Catalogue in the data folder, by `gazeway prices update`. */
  downloaded?: CatalogueFile | null
}

/** Properties of a model that determine its price. */
export interface PricedModel {
  /** Name in the request. */
  requested: string
  /** Id at the upstream. */
  upstream: string
  /** Catalogue of the preset that answers. Empty for a base URL. */
  catalogue: Catalogue
  /** Name of that preset, for the catalogue of all models. Null or absent for a base URL. */
  vendor?: string | null
  /** Set when the upstream does not know the requested name and another model answers, at its own price. */
  isStandIn?: true
  /** Set while it is open whether the upstream knows the name; a stand-in answers otherwise. */
  isOpen?: true
  /** Its cost without a price, where its upstream says so; `fixed` for the flat price by specification. */
  unknownPrice?: UnknownPriceAtUpstream | 'fixed' | null
}

/** A price and its origin. */
export type PriceInForce = { prices: ModelPrices } & (
  | { from: 'configuration'; id: string }
  | { from: 'catalogue'; id: string; source: string; date: string }
  | { from: 'fixed' | 'free' | 'dearest' | 'flat' }
)

/** Number of tokens that a price refers to. */
const UNIT = 1_000_000

/**
 * Price that applies to a model. Precedence, highest first:
 * 1. the configuration, by requested name or upstream id;
 * 2. the preset that answers, or a downloaded catalogue that is newer;
 * 3. the shipped catalogue;
 * 4. what its upstream says about models without a price, then the setting `pricing.unknown`;
 * 5. the flat price.
 *
 * Own names of metered calls skip all but the configuration. A stand-in is priced by its upstream id alone.
 *
 * @example
 * const gpt = { requested: 'gpt-5', upstream: 'gpt-5', catalogue: {} }
 * priceOf(gpt, { models: {}, price_per_1k_tokens_usd: 0.01 }).from // 'flat'
 */
export function priceOf(model: PricedModel, prices: Prices): PriceInForce {
  const { requested, upstream, catalogue, isStandIn } = model
  const asked = isStandIn && !FLAT_MODELS.has(requested) ? undefined : own(prices.models, requested)
  if (asked) return { prices: asked, from: 'configuration', id: requested }
  if (FLAT_MODELS.has(requested)) return { prices: flatPrices(prices), from: 'fixed' }
  const configured = own(prices.models, upstream)
  if (configured) return { prices: configured, from: 'configuration', id: upstream }
  const known = newestOf([inCatalogue(catalogue, upstream), inFile(prices.downloaded, model)])
  const found = known ?? inFile(shippedCatalogue(), model)
  if (found === null) return unknownPrice(model, prices)
  return {
    prices: found.model.prices as ModelPrices,
    from: 'catalogue',
    id: found.id,
    source: found.model.source,
    date: found.model.date,
  }
}

/** A model of a catalogue, under its id there. */
interface Found {
  id: string
  model: PresetModel
}

/** The newest of some prices; null when none is known. */
function newestOf(found: readonly (Found | null)[]): Found | null {
  const priced = found.filter((one) => one !== null && one.model.prices !== 'unknown')
  return priced.reduce<Found | null>((a, b) => (a !== null && b !== null && a.model.date >= b.model.date ? a : b), null)
}

/** Finds a model in a catalogue file, by its exact id or that of its dated snapshot. */
function inFile(file: CatalogueFile | null | undefined, { vendor, upstream }: PricedModel): Found | null {
  if (!file || !vendor) return null
  return withSnapshot(upstream, (id) => cataloguedModel(file, vendor, id, Date.now()))
}

const FREE: ModelPrices = { input: 0, output: 0 }

/** Price of a model without one. Where it is refused, no call has it. */
function unknownPrice(model: PricedModel, prices: Prices): PriceInForce {
  const rule = ruleFor(model, prices)
  if (rule === 'free') return { prices: FREE, from: 'free' }
  const dearest = rule === 'dearest' ? dearestOf(model.catalogue, prices) : null
  if (dearest !== null) return { prices: dearest, from: 'dearest' }
  return { prices: flatPrices(prices), from: rule === 'fixed' ? 'fixed' : 'flat' }
}

const ruleFor = ({ unknownPrice }: PricedModel, { unknown }: Prices) => unknownPrice ?? unknown ?? null

/** Dearest rates of each kind over a catalogue, and over all of them for a base URL. Null when none is known. */
function dearestOf(catalogue: Catalogue, { models }: Prices): ModelPrices | null {
  const catalogues = Object.keys(catalogue).length > 0 ? [catalogue] : PRESETS.map((preset) => preset.models)
  const known = catalogues.flatMap((one) => Object.values(one).map(({ prices }) => prices))
  const priced = [...known, ...Object.values(models)].filter((prices) => prices !== 'unknown')
  if (priced.length === 0) return null
  const { input, output, cachedInput, cacheWrite, cacheWriteHour } = priced.map(dearestRates).reduce(dearer)
  const usd = (micros: Micros): number => micros / MICROS_PER_USD
  return {
    input: usd(input),
    output: usd(output),
    cached_input: usd(cachedInput),
    cache_write: usd(cacheWrite),
    cache_write_1h: usd(cacheWriteHour),
  }
}

/**
 * Cost of a call, and its origin. A cost that the provider states takes precedence, but for models with a fixed price,
 * and for one of 0 where the model has a price.
 *
 * @param stated cost that the provider states, in micro-dollars. Null where it states none, or is not believed
 */
export function costOfCall(
  { usage, tier, stated }: { usage: Usage | null; tier: string | null; stated: Micros | null },
  model: PricedModel,
  prices: Prices,
): { micros: Micros; from: CostOrigin } {
  const from = originOf(model, prices)
  if (stated !== null && from !== 'fixed' && (stated > 0 || isUnpriced(from))) return { micros: stated, from: 'stated' }
  return { micros: upstreamCost(usage, model, prices, tier), from }
}

/** Origin of the price in force of a model. */
export const originOf = (model: PricedModel, prices: Prices): PriceOrigin => cardFor(model, prices).from

/**
 * Tells whether a model is refused because it has no price.
 *
 * @param isHeld true for a caller with budgets or charges, whose limit an unknown price would make void
 */
export function isRefused(model: PricedModel, prices: Prices, isHeld: boolean): boolean {
  const from = originOf(model, prices)
  if (from !== 'flat') return false
  return (ruleFor(model, prices) ?? (isHeld ? 'refuse' : 'flat')) === 'refuse'
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
  const rates = ratesOfCall(cardFor(model, prices), tier, usage.prompt_tokens)
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
    | { from: 'fixed' | 'free' | 'dearest' | 'flat' }
  )

/** Returns the rates that {@link upstreamCost} takes for a call. */
export function appliedPrice(
  usage: Usage | null,
  model: PricedModel,
  prices: Prices,
  tier: string | null = null,
): AppliedPrice {
  const { prices: _, ...origin } = priceOf(model, prices)
  const rates = ratesOfCall(cardFor(model, prices), tier, usage?.prompt_tokens ?? 0)
  const usd = (perUnit: Micros) => perUnit / MICROS_PER_USD
  return {
    input: usd(rates.input),
    output: usd(rates.output),
    cached_input: usd(rates.cachedInput),
    cache_write: usd(rates.cacheWrite),
    cache_write_1h: usd(rates.cacheWriteHour),
    tier,
    ...origin,
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
    const card = cardFor(model, prices)
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
  return Math.ceil(Math.max(...Object.values(dearestRates(prices))) / 1000) / MICROS_PER_USD
}

/** Dearest rates of a model over long prompts and tiers. */
function dearestRates(prices: ModelPrices): Rates {
  const { long, dearest } = cardOf(prices)
  return long === null ? dearest : dearer(dearest, long.rates)
}

/** Cache of rates. A model is the same object in all calls to it. */
const known = new WeakMap<PricedModel, { of: Prices; until: number; card: RateCard & { from: PriceOrigin } }>()

const DAY_MS = 86_400_000

function cardFor(model: PricedModel, prices: Prices): RateCard & { from: PriceOrigin } {
  const found = known.get(model)
  // Prices change at midnight UTC. Before the shipped catalogue is loaded none is final.
  const now = Date.now()
  if (found?.of === prices && now < found.until) return found.card
  const inForce = priceOf(model, prices)
  const card = { ...cardOf(inForce.prices), from: inForce.from }
  const until = shippedCatalogue() === null ? now : (Math.floor(now / DAY_MS) + 1) * DAY_MS
  known.set(model, { of: prices, until, card })
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
const inCatalogue = (catalogue: Catalogue, id: string): Found | null =>
  withSnapshot(id, (name) => own(catalogue, name) ?? null)

function withSnapshot(id: string, find: (id: string) => PresetModel | null): Found | null {
  const listed = find(id)
  if (listed) return { id, model: listed }
  const [, base = '', year, month, day] = SNAPSHOT.exec(id) ?? []
  const model = find(base)
  if (!model || `${year}-${month}-${day}`.slice(0, model.date.length) > model.date) return null
  return { id: base, model }
}
