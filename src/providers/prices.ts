import * as z from 'zod'
import { MICROS_PER_USD, type Micros } from '../text/money.ts'
import { type CatalogueFile, cataloguedModel } from './catalogue-file.ts'
import { downloadedCatalogue } from './downloaded-catalogue.ts'
import type { ListedPrices } from './listed-prices.ts'
import { isOtherModel } from './model-names.ts'
import { type Catalogue, FLAT_MODELS, type ModelPrices, type PresetModel, type TokenPrices } from './preset.ts'
import type { Fees, FeeUnit } from './priced-fields.ts'
import { PRESETS, presetOf } from './providers.ts'
import { shippedCatalogue } from './shipped-catalogue.ts'
import { type CallTier, STANDARD_TIER, type TierFields, type TierPercents, tierIn, tierName } from './tiers.ts'
import type { Usage, UsagePart } from './token-usage.ts'

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
  /** Downloaded catalogue; absent for that of the data folder in use. */
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
  /** Prices of the provider's own list. Null or absent where it states none. */
  listing?: ListedPrices | null
  /** Tier and region of the upstream's project, which apply where a request names none. */
  project?: TierFields
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
 * 2. the provider's own list of models;
 * 3. the preset that answers, or a downloaded catalogue that is newer;
 * 4. the shipped catalogue;
 * 5. what its upstream says about models without a price, then the setting `pricing.unknown`;
 * 6. the flat price.
 *
 * Own names of metered calls skip all but the configuration. A stand-in is priced by its upstream id alone.
 *
 * @example
 * const gpt = { requested: 'gpt-5', upstream: 'gpt-5', catalogue: {} }
 * priceOf(gpt, { models: {}, price_per_1k_tokens_usd: 0.01 }).from // 'flat'
 */
export function priceOf(model: PricedModel, prices: Prices): PriceInForce {
  const { requested, catalogue, isStandIn } = model
  const upstream = pricedId(model)
  const asked = isStandIn && !FLAT_MODELS.has(requested) ? undefined : own(prices.models, requested)
  if (asked) return { prices: asked, from: 'configuration', id: requested }
  if (FLAT_MODELS.has(requested)) return { prices: flatPrices(prices), from: 'fixed' }
  const configured = own(prices.models, upstream)
  if (configured) return { prices: configured, from: 'configuration', id: upstream }
  const found =
    inListing(model, upstream) ??
    newestOf([
      inCatalogue(catalogue, upstream),
      inFile(prices.downloaded ?? downloadedCatalogue()?.catalogue, model),
    ]) ??
    inFile(shippedCatalogue(), model)
  if (found === null) return unknownPrice(model, prices)
  return {
    prices: found.model.prices as ModelPrices,
    from: 'catalogue',
    id: found.id,
    source: found.model.source,
    date: found.model.date,
  }
}

/** Id of a model without what changes no price of tokens, such as `:online`. */
const pricedId = ({ vendor, upstream }: PricedModel): string =>
  presetOf(vendor ?? '')?.pricedFields.readId?.(upstream).priced ?? upstream

/** Finds a model in its provider's list: by its whole id, as `:free` has a price of its own, else by that with its price. */
function inListing({ listing, upstream: id }: PricedModel, priced: string): Found | null {
  const model = listing?.of(id) ?? listing?.of(priced) ?? null
  return model && { id, model }
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
function inFile(file: CatalogueFile | null | undefined, model: PricedModel): Found | null {
  const { vendor } = model
  if (!file || !vendor) return null
  return withSnapshot(pricedId(model), (id) => cataloguedModel(file, vendor, id, Date.now()))
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

/** Everything that a call used. */
export interface UsedByCall {
  usage: Usage | null
  /** Tokens by model, when several used them. Null or absent for one. */
  parts?: readonly UsagePart[] | null
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
  const { usage, parts = null, uses = {}, tier, stated } = used
  const from = originOf(model, prices)
  if (stated !== null && from !== 'fixed' && (stated > 0 || isUnpriced(from))) return { micros: stated, from: 'stated' }
  let fees = 0
  for (const unit in uses) fees += (uses[unit as FeeUnit] ?? 0) * feeOf(unit as FeeUnit, model, prices)
  if (usage === null || parts === null) return { micros: upstreamCost(usage, model, prices, tier) + fees, from }
  const costs = parts.map((part) => exactCost(part.usage, pricedBy(part.model, model, prices), prices, tier))
  return { micros: roundedUp(costs.reduce((all, one) => all + one, 0)) + fees, from }
}

/** Tells whether an answer names another model than the asked one, and none that it may choose by its name. */
export const isAnotherModel = (id: string, { vendor, upstream }: PricedModel): boolean =>
  isOtherModel(id, upstream) && !presetOf(vendor ?? '')?.pricedFields.readId?.(upstream).choosesModel

/** The model that answered, for its price; the requested one where only that has one, or a fixed one. */
export function pricedBy(id: string | null, model: PricedModel, prices: Prices): PricedModel {
  if (id === null || id === model.upstream) return model
  const from = originOf(model, prices)
  if (from !== 'catalogue' && from !== 'configuration') return model
  const { isStandIn: _, isOpen: __, ...at } = model
  const named = { ...at, requested: id, upstream: id }
  return isUnpriced(originOf(named, prices)) ? model : named
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

/** The same in millionths of a micro-dollar. */
function exactCost(usage: Usage, model: PricedModel, prices: Prices, tier: CallTier): number {
  const rates = ratesOfCall(cardFor(model, prices), tier, usage.prompt_tokens)
  const { input, output, cachedInput, cacheWrite, cacheWriteHour } = rates
  const { prompt_tokens: prompt, completion_tokens: completion } = usage
  const { cached_tokens: cached = 0, cache_write_tokens: written = 0, cache_write_1h_tokens: forAnHour = 0 } = usage
  return (
    (prompt - cached - written) * input +
    cached * cachedInput +
    (written - forAnHour) * cacheWrite +
    forAnHour * cacheWriteHour +
    completion * output
  )
}

/** Rates of one call in US dollars per 1,000,000 tokens, with their source: its cost can be computed again from them. */
export type AppliedPrice = TokenPrices & { tier: string | null; mixed?: true } & (
    | { from: 'configuration'; id: string }
    | { from: 'catalogue'; id: string; source: string; date: string }
    | { from: 'fixed' | 'free' | 'dearest' | 'flat' }
  )

/** Returns the rates that {@link upstreamCost} takes for a call. */
export function appliedPrice(
  usage: Usage | null,
  model: PricedModel,
  prices: Prices,
  tier: CallTier = STANDARD_TIER,
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
    tier: tierName(tier),
    ...origin,
  }
}

/** Tokens whose cost is bounded. */
export interface BoundedTokens {
  prompt: number
  answer: number
  /** Tiers that the request names; any of them may answer. */
  tiers?: readonly TierFields[]
  /** Tokens of the whole prompt; `prompt` by default. */
  wholePrompt?: number
  /** True when the request asks the provider to keep its prompt for an hour. */
  isKeptForHour?: boolean
}

/**
 * Upper bound of the cost of some tokens with any of the models, with the whole prompt at the dearest rate that the request
 * may cause. A requested tier may be answered by the standard one, so the dearer of both counts.
 */
export function maxCost(tokens: BoundedTokens, models: readonly PricedModel[], prices: Prices): Micros {
  const { prompt, answer, isKeptForHour = false } = tokens
  const costs = models.map((model) => {
    const { input, cachedInput, cacheWrite, cacheWriteHour, output } = dearestOfCall(tokens, model, prices)
    const written = isKeptForHour ? Math.max(cacheWrite, cacheWriteHour) : cacheWrite
    return roundedUp(prompt * Math.max(input, cachedInput, written) + answer * output)
  })
  return Math.max(...costs)
}

/** Dearest rates at which a request may be answered by a model. */
function dearestOfCall(
  { prompt, wholePrompt = prompt, tiers = [] }: Omit<BoundedTokens, 'answer'>,
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
export function feeOf(unit: FeeUnit, model: PricedModel, prices: Prices): Micros {
  const from = originOf(model, prices)
  if (from === 'fixed' || from === 'free') return 0
  const set = cardFor(model, prices).units[unit]
  return set ?? presetOf(model.vendor ?? '')?.pricedFields.fees?.[unit] ?? 0
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
const known = new WeakMap<PricedModel, { of: Prices; until: number; listed: number; card: ModelCard }>()

const DAY_MS = 86_400_000

function cardFor(model: PricedModel, prices: Prices): ModelCard {
  const found = known.get(model)
  // Prices change at midnight UTC. Before the shipped catalogue is loaded none is final.
  const now = Date.now()
  const listed = model.listing?.version() ?? 0
  if (found?.of === prices && now < found.until && listed === found.listed) return found.card
  const inForce = priceOf(model, prices)
  const percents = percentsOf(model, inForce.from)
  const card = { ...cardOf(inForce.prices), percents, from: inForce.from }
  const until = shippedCatalogue() === null ? now : (Math.floor(now / DAY_MS) + 1) * DAY_MS
  known.set(model, { of: prices, until, listed, card })
  return card
}

type Rates = ReturnType<typeof ratesOf>

/** Rates of a model at its provider. */
interface ModelCard extends RateCard {
  from: PriceOrigin
  /** Prices of tiers without rates of their own. */
  percents: TierPercents
}

const NO_PERCENTS: TierPercents = {}

/** Prices of a model's tiers. Flat prices and free models have none. */
function percentsOf({ vendor, upstream }: PricedModel, from: PriceOrigin): TierPercents {
  if (from !== 'configuration' && from !== 'catalogue') return NO_PERCENTS
  return presetOf(vendor ?? '')?.pricedFields.tiers?.(upstream) ?? NO_PERCENTS
}

interface RateCard {
  /** Prices by the piece, in micro-dollars. */
  units: Fees
  standard: Rates
  tiers: ReadonlyMap<string, Rates>
  /** Dearest rates over the tiers, for a tier without a known price. */
  dearest: Rates
  long: { above: number; rates: Rates } | null
}

function cardOf({ long_prompt: long, service_tiers = {}, units = {}, ...prices }: ModelPrices): RateCard {
  const standard = ratesOf(prices)
  const tiers = new Map(Object.entries(service_tiers).map(([tier, of]) => [tier, ratesOf(of)]))
  const set = Object.entries(units).flatMap(([unit, usd]) => (usd === undefined ? [] : [[unit, micros(usd)]]))
  return {
    units: Object.fromEntries(set),
    standard,
    tiers,
    dearest: [...tiers.values()].reduce(dearer, standard),
    long: long ? { above: long.above, rates: ratesOf(long) } : null,
  }
}

/** Rates of one call. Where a tier meets a long prompt, or has no known price, the dearest that apply. */
function ratesOfCall(card: ModelCard, { service, speed, region }: CallTier, prompt: number): Rates {
  const { percents } = card
  const rates = ratesOfService(card, service, prompt)
  if (speed === null && region === null) return rates
  return scaled(scaled(rates, percentOf(percents.speed, speed)), percentOf(percents.region, region))
}

function ratesOfService(card: ModelCard, service: string | null, prompt: number): Rates {
  const { standard, tiers, dearest, long, percents } = card
  const isLong = long !== null && prompt > long.above
  if (service === null) return isLong ? long.rates : standard
  const listed = tiers.get(service)
  const percent = listed === undefined ? own(percents.service ?? {}, service) : undefined
  if (percent !== undefined) return scaled(isLong ? long.rates : standard, percent)
  const rates = listed ?? dearest
  return isLong ? dearer(rates, long.rates) : rates
}

/** Percentage for a name: the dearest for one that is not known. 100 where a provider has none. */
function percentOf(known: Readonly<Record<string, number>> = {}, name: string | null): number {
  if (name === null) return 100
  return own(known, name) ?? Math.max(100, ...Object.values(known))
}

/** Rates at a percentage, rounded up to whole micro-dollars for 1,000,000 tokens. */
function scaled(rates: Rates, percent: number): Rates {
  if (percent === 100) return rates
  const { input, output, cachedInput, cacheWrite, cacheWriteHour } = rates
  const at = (rate: Micros): Micros => Math.ceil((rate * percent) / 100)
  return {
    input: at(input),
    output: at(output),
    cachedInput: at(cachedInput),
    cacheWrite: at(cacheWrite),
    cacheWriteHour: at(cacheWriteHour),
  }
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
