import type { Catalogue } from './preset.ts'

const DAY_MS = 86_400_000
/** Older prices are likely to have changed. */
const MOST_DAYS = 365

/**
 * Says how current the catalogue of a provider is, for `gazeway doctor`.
 *
 * @param configured models whose price the configuration has
 */
export function ageOfPrices(
  { name, catalogue }: { name: string; catalogue: Catalogue },
  configured: Readonly<Record<string, unknown>>,
  now: Date,
): string | { warning: string } {
  const inUse = Object.entries(catalogue).filter(([id]) => !Object.hasOwn(configured, id))
  const dates = inUse.flatMap(([, { prices, date }]) => (prices === 'unknown' ? [] : [date])).sort()
  const [oldest] = dates
  if (oldest === undefined) return `${name} has no catalogue: the flat price, unless pricing.models has another`
  if (now.getTime() - Date.parse(oldest) <= MOST_DAYS * DAY_MS) return `of ${name}, read ${oldest} or later`
  const old = inUse.flatMap(([id, { prices, date }]) => (prices !== 'unknown' && date === oldest ? [id] : []))
  return {
    warning: `those of ${name} were read ${oldest}, more than a year ago: set pricing.models for ${old.join(', ')}, or update Gazeway.`,
  }
}
