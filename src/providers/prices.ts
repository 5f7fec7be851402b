import * as z from 'zod'
import { MICROS_PER_USD } from '../text/money.ts'
import { ownValue } from '../text/own-value.ts'
import { type CatalogueFile, cataloguedModel } from './catalogue-file.ts'
import { downloadedCatalogue } from './downloaded-catalogue.ts'
import type { ListedPrices } from './listed-prices.ts'
import { isOtherModel } from './model-names.ts'
import { type Catalogue, FLAT_MODELS, type ModelPrices, type PresetModel } from './preset.ts'
import { PRESETS, presetOf } from './providers.ts'
import { cardOf, dearer, dearestRates, pricesOf, type RateCard } from './rates.ts'
import { shippedCatalogue } from './shipped-catalogue.ts'
import type { TierFields, TierPercents } from './tiers.ts'

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

/** Credentials of a client that pays its provider itself: its API key, or the plan of a person. */
const CLIENT_PAID = ['own_key', 'own_plan'] as const
export type ClientPaid = (typeof CLIENT_PAID)[number]

/** Origins of the cost of a call; `stated`: the provider states it; `own_key`, `own_plan`: it costs its client alone. */
export const CostOrigin = z.enum(['stated', ...PRICE_ORIGINS, ...CLIENT_PAID])
export type CostOrigin = z.infer<typeof CostOrigin>

/** Tells whether a call was made with a credential of its client. It tells nothing of our keys. */
export const isClientPaid = (from: CostOrigin | null): boolean => from === 'own_key' || from === 'own_plan'

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
  const asked = isStandIn && !FLAT_MODELS.has(requested) ? undefined : ownValue(prices.models, requested)
  if (asked) return { prices: asked, from: 'configuration', id: requested }
  if (FLAT_MODELS.has(requested)) return { prices: flatPrices(prices), from: 'fixed' }
  const configured = ownValue(prices.models, upstream)
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
  const vendors = [vendor, ...(presetOf(vendor)?.pricedLike ?? [])]
  const found = vendors.map((of) => withSnapshot(pricedId(model), (id) => cataloguedModel(file, of, id, Date.now())))
  return found.find((one) => one !== null) ?? null
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
  return pricesOf(priced.map(dearestRates).reduce(dearer))
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

/** The flat price, as the prices of a model. */
export function flatPrices({ price_per_1k_tokens_usd }: Prices): ModelPrices {
  const usd = (Math.round(price_per_1k_tokens_usd * MICROS_PER_USD) * 1000) / MICROS_PER_USD
  return { input: usd, output: usd }
}

/** Dearest rate of a model in US dollars per 1,000 tokens, rounded up to whole micro-dollars. */
export function dearestPer1k(prices: ModelPrices): number {
  return Math.ceil(Math.max(...Object.values(dearestRates(prices))) / 1000) / MICROS_PER_USD
}

/** Price and rates of a model, and what they hold for. */
interface Known {
  of: Prices
  until: number
  listed: number
  inForce: PriceInForce
  card: ModelCard
}

/** Cache of prices and rates. A model is the same object in all calls to it. */
const known = new WeakMap<PricedModel, Known>()

const DAY_MS = 86_400_000

/** Returns the rates of a model in force. Cheap: they are kept until prices may change. */
export const cardFor = (model: PricedModel, prices: Prices): ModelCard => knownOf(model, prices).card

/** Returns the price in force of a model, as {@link priceOf} and with the rates of {@link cardFor}. Cheap, too. */
export const priceFor = (model: PricedModel, prices: Prices): PriceInForce => knownOf(model, prices).inForce

function knownOf(model: PricedModel, prices: Prices): Known {
  const found = known.get(model)
  // Prices change at midnight UTC. Before the shipped catalogue is loaded none is final.
  const now = Date.now()
  const listed = model.listing?.version() ?? 0
  if (found?.of === prices && now < found.until && listed === found.listed) return found
  const inForce = priceOf(model, prices)
  const percents = percentsOf(model, inForce.from)
  const card = { ...cardOf(inForce.prices), percents, from: inForce.from }
  const until = shippedCatalogue() === null ? now : (Math.floor(now / DAY_MS) + 1) * DAY_MS
  const made = { of: prices, until, listed, inForce, card }
  known.set(model, made)
  return made
}

/** Rates of a model at its provider. */
export interface ModelCard extends RateCard {
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

const SNAPSHOT = /^(.+)-(20\d\d)-?([01]\d)-?([0-3]\d)$/

/**
 * Finds a model in a catalogue. An unlisted dated snapshot (`gpt-5-2025-08-07`, `claude-haiku-4-5-20251001`) takes the
 * price of its base model, unless the snapshot is newer than the price.
 */
const inCatalogue = (catalogue: Catalogue, id: string): Found | null =>
  withSnapshot(id, (name) => ownValue(catalogue, name) ?? null)

function withSnapshot(id: string, find: (id: string) => PresetModel | null): Found | null {
  const listed = find(id)
  if (listed) return { id, model: listed }
  const [, base = '', year, month, day] = SNAPSHOT.exec(id) ?? []
  const model = find(base)
  if (!model || `${year}-${month}-${day}`.slice(0, model.date.length) > model.date) return null
  return { id: base, model }
}
