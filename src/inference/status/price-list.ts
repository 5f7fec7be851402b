import { type MediumKind, PRICE_KINDS, type TokenPrices } from '../../providers/preset.ts'
import {
  isRefused,
  isUnpriced,
  type PricedModel,
  type PriceInForce,
  type Prices,
  priceOf,
} from '../../providers/prices.ts'
import type { Provider } from '../upstreams/provider.ts'

/** Price of a model that clients can request, and its source. */
export interface ListedPrice extends Readonly<Record<MediumKind, number | null>> {
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
  /** True when the model has no price: calls to it are refused, or have another price. */
  unknown: boolean
}

/** Lists the prices in force of all models known at some upstreams: their aliases, catalogues and configured prices. */
export function listPrices(providers: readonly Provider[], prices: Prices): ListedPrice[] {
  return providers.flatMap((provider) => {
    const named = [...provider.aliases, ...Object.keys(provider.catalogue), ...Object.keys(prices.models)]
    return [...new Set(named)].flatMap((name) => listed(provider.name, provider.resolve(name, 'chat'), prices))
  })
}

/** Names the models that keys with budgets or charges may not use, since they have no price. None when all have one. */
export function refusedModels(providers: readonly Provider[], prices: Prices): string[] {
  return providers.flatMap((provider) => {
    const named = [...new Set([...provider.aliases, ...Object.keys(provider.catalogue)])]
    const refused = named.filter((name) => isRefused(provider.resolve(name, 'chat'), prices, true))
    const rule = provider.resolve('', 'chat')
    if (Object.keys(provider.catalogue).length === 0 && isRefused(rule, prices, true))
      return `at ${provider.name} keys with budgets or charges may use the models of pricing.models alone`
    return refused.length === 0
      ? []
      : `no price at ${provider.name}, refused to keys with budgets or charges: ${refused.join(', ')}`
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
    unknown: isUnpriced(found.from),
  })
  return [
    row(null, found.prices),
    ...(long ? [row({ prompt_tokens_above: long.above }, long)] : []),
    ...Object.entries(tiers).map(([service_tier, rates]) => row({ service_tier }, rates)),
  ]
}

const OPTIONAL_KINDS = PRICE_KINDS.filter((kind) => kind !== 'input' && kind !== 'output')

const everyRate = ({ input, output, ...others }: TokenPrices) => ({
  input,
  output,
  ...(Object.fromEntries(OPTIONAL_KINDS.map((kind) => [kind, others[kind] ?? null])) as Record<
    (typeof OPTIONAL_KINDS)[number],
    number | null
  >),
})

function sourceOf(found: PriceInForce): string {
  if (found.from === 'configuration') return `pricing.models.${found.id}`
  if (found.from === 'catalogue') return found.source
  return found.from === 'fixed' || found.from === 'flat' ? 'pricing.price_per_1k_tokens_usd' : 'unknown_price'
}
