import { MICROS_PER_USD, type Micros } from '../text/money.ts'
import { type Catalogue, FLAT_MODELS, type ModelPrices, type PresetModel } from './preset.ts'
import type { Usage } from './token-usage.ts'

/** The prices of the configuration. */
export interface Prices {
  /** By model id, in US dollars per 1,000,000 tokens. */
  models: Readonly<Record<string, ModelPrices>>
  /** US dollars per 1,000 tokens of any kind, where no other price is known. */
  price_per_1k_tokens_usd: number
}

/** A model as far as its price goes by it. */
export interface PricedModel {
  /** The name that was asked for. */
  requested: string
  /** The upstream's id. */
  upstream: string
  /** What is known of the models of the preset that answers; empty for a base URL. */
  catalogue: Catalogue
}

/** A price, and where it comes from. */
export type PriceInForce = { prices: ModelPrices } & (
  | { from: 'configuration'; id: string }
  | { from: 'catalogue'; id: string; source: string; date: string }
  /** `isUnknown`: the catalogue has the model, and not its price. */
  | { from: 'flat'; isUnknown: boolean }
)

/** Tokens in the unit that prices have. */
const UNIT = 1_000_000

/**
 * The price that is in force for a model: that of the configuration, by the name that was asked for or the upstream's id;
 * else that of the preset that answers; else the flat price. The models of metered calls keep the flat price unless the
 * configuration has one under their own names.
 */
export function priceOf({ requested, upstream, catalogue }: PricedModel, prices: Prices): PriceInForce {
  const flat = { prices: flatPrices(prices), from: 'flat' } as const
  const asked = own(prices.models, requested)
  if (asked) return { prices: asked, from: 'configuration', id: requested }
  if (FLAT_MODELS.has(requested)) return { ...flat, isUnknown: false }
  const configured = own(prices.models, upstream)
  if (configured) return { prices: configured, from: 'configuration', id: upstream }
  const known = inCatalogue(catalogue, upstream)
  if (known === null || known.model.prices === 'unknown') return { ...flat, isUnknown: known !== null }
  const { id, model } = known
  return { prices: known.model.prices, from: 'catalogue', id, source: model.source, date: model.date }
}

/**
 * What a call cost upstream, in micro-dollars: each kind of token × its price, rounded up once, to a whole micro-dollar,
 * so that a fraction is never given away.
 */
export function upstreamCost(usage: Usage | null, model: PricedModel, prices: Prices): Micros {
  if (!usage) return 0
  const { input, output, cachedInput, cacheWrite, cacheWriteHour } = ratesFor(model, prices)
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

/** The most that so many tokens can cost with any of the models: all of the prompt may be of the dearest kind. */
export function mostCost(
  { prompt, answer }: { prompt: number; answer: number },
  models: readonly PricedModel[],
  prices: Prices,
): Micros {
  const costs = models.map((model) => {
    const { output, ...ofPrompt } = ratesFor(model, prices)
    return roundedUp(prompt * Math.max(...Object.values(ofPrompt)) + answer * output)
  })
  return Math.max(...costs)
}

/** The flat price, as that of a model. */
export function flatPrices({ price_per_1k_tokens_usd }: Prices): ModelPrices {
  const usd = (Math.round(price_per_1k_tokens_usd * MICROS_PER_USD) * 1000) / MICROS_PER_USD
  return { input: usd, output: usd }
}

/** The dearest price of a model, in US dollars per 1,000 tokens and whole micro-dollars, rounded up. */
export function dearestPer1k(prices: ModelPrices): number {
  return Math.ceil(Math.max(...Object.values(ratesOf(prices))) / 1000) / MICROS_PER_USD
}

/** A model is the same object in all calls to it, and its price is looked up once. */
const known = new WeakMap<PricedModel, { of: Prices; rates: Rates }>()

function ratesFor(model: PricedModel, prices: Prices): Rates {
  const found = known.get(model)
  if (found?.of === prices) return found.rates
  const rates = ratesOf(priceOf(model, prices).prices)
  known.set(model, { of: prices, rates })
  return rates
}

type Rates = ReturnType<typeof ratesOf>

/** Micro-dollars per 1,000,000 tokens, which are whole; what is not known costs what input does. */
function ratesOf({ input, output, cached_input, cache_write, cache_write_1h }: ModelPrices) {
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

/** Clients may ask for any model: `constructor` is a property of every object. */
const own = <T>(models: Readonly<Record<string, T>>, id: string): T | undefined =>
  Object.hasOwn(models, id) ? models[id] : undefined

const SNAPSHOT = /^(.+)-(20\d\d)-?([01]\d)-?([0-3]\d)$/

/**
 * A model in a catalogue. A dated snapshot (`gpt-5-2025-08-07`, `claude-haiku-4-5-20251001`) that is not listed itself
 * costs what its base does, where it is no newer than the price: a later one may have another.
 */
function inCatalogue(catalogue: Catalogue, id: string): { id: string; model: PresetModel } | null {
  const listed = own(catalogue, id)
  if (listed) return { id, model: listed }
  const [, base = '', year, month, day] = SNAPSHOT.exec(id) ?? []
  const model = own(catalogue, base)
  if (!model || `${year}-${month}-${day}`.slice(0, model.date.length) > model.date) return null
  return { id: base, model }
}
