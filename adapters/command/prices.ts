import type { LoadedConfig } from '../../src/config/config.ts'
import type { Config } from '../../src/config/config-schema.ts'
import type { Log } from '../../src/config/log.ts'
import { type ListedPrice, listPrices } from '../../src/inference/status/price-list.ts'
import { createProvider } from '../../src/inference/upstreams/create-provider.ts'
import { namedConfigs } from '../../src/inference/upstreams/upstream-configs.ts'
import { useDownloaded } from '../../src/providers/downloaded-catalogue.ts'
import { flatPrices, type PriceOrigin } from '../../src/providers/prices.ts'
import { loadShippedCatalogue, shippedCatalogue } from '../../src/providers/shipped-catalogue.ts'
import { aligned } from './text-table.ts'
import { withKeys } from './with-keys.ts'

const HEAD = ['UPSTREAM', 'MODEL', 'ALIAS', 'INPUT', 'CACHED', 'CACHE WRITE', 'CACHE WRITE 1 H', 'OUTPUT', 'SOURCE']

/** Prints the prices at which calls are recorded and charged, with their sources. The format is a table or JSON. */
export async function showPrices(loaded: LoadedConfig, log: Log, { json }: { json?: boolean }): Promise<void> {
  const config = await configOf(loaded, log)
  const { pricing } = config
  await loadShippedCatalogue()
  const catalogues = cataloguesInUse(loaded.dataDir)
  const providers = [createProvider(config.upstream), ...namedConfigs(config).map(createProvider)]
  const items = listPrices(providers, pricing)
  const { input: other } = flatPrices(pricing)
  const list = {
    currency: 'USD',
    per_tokens: 1_000_000,
    margin_usd: pricing.margin_usd,
    other_models: other,
    catalogues,
    items,
  }
  process.stdout.write(json ? `${JSON.stringify(list, null, 2)}\n` : aligned(HEAD, items.map(row)))
  if (json) return
  const unknown = items.some((item) => item.unknown) ? ' A model whose price is unknown has the flat price.' : ''
  for (const { name, date, source } of catalogues) process.stderr.write(`Catalogue ${name}, ${date}: ${source}\n`)
  process.stderr.write(
    `Prices in USD per 1,000,000 tokens; - means the input price. All other models: ${other} (flat price).${unknown} Margin of a metered call: ${pricing.margin_usd} USD.\n`,
  )
}

/** Catalogues that prices come from, the newest first, with their sources. */
function cataloguesInUse(dataDir: string) {
  const downloaded = useDownloaded(dataDir)
  const shipped = shippedCatalogue()
  return [
    ...(downloaded === null
      ? []
      : [
          {
            name: 'downloaded',
            date: downloaded.catalogue.date,
            source: downloaded.address,
            sha256: downloaded.sha256,
            stored_at: downloaded.stored_at,
          },
        ]),
    ...(shipped === null ? [] : [{ name: 'shipped', date: shipped.date, source: shipped.source }]),
  ].sort((a, b) => (a.date < b.date ? 1 : -1))
}

/** Returns the configuration that a service on the store would use. On SQLite the store stays closed. */
const configOf = async (loaded: LoadedConfig, log: Log): Promise<Config> =>
  loaded.storeUrl.startsWith('sqlite:') ? loaded.config : withKeys(loaded, log, async ({ config }) => config)

const row = (item: ListedPrice): (string | null)[] => [
  item.upstream,
  item.upstream_model + conditionOf(item),
  item.model === item.upstream_model ? null : item.model,
  usd(item.input),
  usd(item.cached_input),
  usd(item.cache_write),
  usd(item.cache_write_1h),
  usd(item.output),
  from(item),
]

/** The calls that a price applies to, when it does not apply to all. */
function conditionOf({ when }: ListedPrice): string {
  if (when === null) return ''
  return 'service_tier' in when ? ` (tier ${when.service_tier})` : ` (prompt > ${when.prompt_tokens_above})`
}

const usd = (amount: number | null): string | null => (amount === null ? null : String(amount))

function from({ from, source, date }: ListedPrice): string {
  if (from === 'catalogue') return `catalogue, ${date}: ${source}`
  return from === 'configuration' ? `configuration: ${source}` : FROM[from]
}

const FROM = {
  fixed: 'flat price',
  free: 'free',
  dearest: 'no price: dearest of the provider',
  flat: 'no price: flat price, refused to keys with budgets or charges',
} as const satisfies Partial<Record<PriceOrigin, string>>
