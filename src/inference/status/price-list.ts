import type { TokenPrices } from '../../providers/preset.ts'
import { type PricedModel, type PriceInForce, type Prices, priceOf } from '../../providers/prices.ts'
import type { Provider } from '../upstreams/provider.ts'

/** Price of a model that clients can request, and its source. */
export interface ListedPrice {
  upstream: string
  /** Name to request it by. */
  model: string
  /** Id at the upstream. */
  upstream_model: string
  /** Calls that it applies to: those with a longer prompt or a service tier. Null for all others. */
  when: { prompt_tokens_above: number } | { service_tier: string } | null
  /** US dollars per 1,000,000 tokens. Null for an unknown rate, which falls back to the input rate. */
  input: number
  output: number
  cached_input: number | null
  cache_write: number | null
  cache_write_1h: number | null
  from: PriceInForce['from']
  /** Setting or page that states the price. */
  source: string
  /** Day or month the page was read. Null for a setting. */
  date: string | null
  /** True when the catalogue lists it without a price, so that the flat price applies. */
  unknown: boolean
}

/** Lists the prices in force of all models known at some upstreams: their aliases, catalogues and configured prices. */
export function listPrices(providers: readonly Provider[], prices: Prices): ListedPrice[] {
  return providers.flatMap((provider) => {
    const named = [...provider.aliases, ...Object.keys(provider.catalogue), ...Object.keys(prices.models)]
    return [...new Set(named)].flatMap((name) => listed(provider.name, provider.resolve(name, 'chat'), prices))
  })
}

function listed(upstream: string, model: PricedModel, prices: Prices): ListedPrice[] {
  const found = priceOf(model, prices)
  const { long_prompt: long, service_tiers: tiers = {} } = found.prices
  const row = (when: ListedPrice['when'], rates: TokenPrices): ListedPrice => ({
    upstream,
    model: model.requested,
    upstream_model: model.upstream,
    when,
    ...everyRate(rates),
    from: found.from,
    source: sourceOf(found),
    date: found.from === 'catalogue' ? found.date : null,
    unknown: found.from === 'flat' && found.isUnknown,
  })
  return [
    row(null, found.prices),
    ...(long ? [row({ prompt_tokens_above: long.above }, long)] : []),
    ...Object.entries(tiers).map(([service_tier, rates]) => row({ service_tier }, rates)),
  ]
}

const everyRate = ({ input, output, cached_input, cache_write, cache_write_1h }: TokenPrices) => ({
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
