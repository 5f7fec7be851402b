import type { ModelPrices } from '../providers/preset.ts'
import { type PricedModel, type PriceInForce, type Prices, priceOf } from '../providers/prices.ts'
import type { Provider } from './provider.ts'

/** The price of a model that can be asked for, and where it comes from. */
export interface ListedPrice {
  upstream: string
  /** The name that is asked for. */
  model: string
  /** The upstream's id for it. */
  upstream_model: string
  /** US dollars per 1,000,000 tokens; null for a rate that is not known, whose tokens cost what input does. */
  input: number
  output: number
  cached_input: number | null
  cache_write: number | null
  cache_write_1h: number | null
  from: PriceInForce['from']
  /** The setting that has it, or the page that says so. */
  source: string
  /** The day or month when that page was read; null for a setting. */
  date: string | null
  /** Whether it is in the catalogue without a price, and has the flat one in its place. */
  unknown: boolean
}

/** The prices in force of all that is known by name at some upstreams: their aliases, their catalogues, and what is configured. */
export function listPrices(providers: readonly Provider[], prices: Prices): ListedPrice[] {
  return providers.flatMap((provider) => {
    const named = [...provider.aliases, ...Object.keys(provider.catalogue), ...Object.keys(prices.models)]
    return [...new Set(named)].map((name) => listed(provider.name, provider.resolve(name, 'chat'), prices))
  })
}

function listed(upstream: string, model: PricedModel, prices: Prices): ListedPrice {
  const found = priceOf(model, prices)
  return {
    upstream,
    model: model.requested,
    upstream_model: model.upstream,
    ...everyRate(found.prices),
    from: found.from,
    source: sourceOf(found),
    date: found.from === 'catalogue' ? found.date : null,
    unknown: found.from === 'flat' && found.isUnknown,
  }
}

const everyRate = ({ input, output, cached_input, cache_write, cache_write_1h }: ModelPrices) => ({
  input,
  output,
  cached_input: cached_input ?? null,
  cache_write: cache_write ?? null,
  cache_write_1h: cache_write_1h ?? null,
})

function sourceOf(found: PriceInForce): string {
  if (found.from === 'configuration') return `pricing.models.${found.id}`
  return found.from === 'catalogue' ? found.source : 'pricing.price_per_1k_tokens_usd'
}
