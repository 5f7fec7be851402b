import type { Catalogue } from './preset.ts'

const DAY_MS = 86_400_000
/** Age in days from which a price counts as outdated. */
const MAX_DAYS = 365

/**
 * Reports the age of a provider's catalogue, for `gazeway doctor`.
 *
 * @param configured models with a price in the configuration
 */
export function ageOfPrices(
  { name, catalogue }: { name: string; catalogue: Catalogue },
  configured: Readonly<Record<string, unknown>>,
  now: Date,
): string | { warning: string } {
  const inUse = Object.entries(catalogue).filter(([id]) => !Object.hasOwn(configured, id))
  const dates = inUse.flatMap(([, { prices, date }]) => (prices === 'unknown' ? [] : [date])).sort()
  const [oldest] = dates
  if (oldest === undefined) return `${name} has no catalogue`
  if (now.getTime() - Date.parse(oldest) <= MAX_DAYS * DAY_MS) return `of ${name}, read ${oldest} or later`
  const old = inUse.flatMap(([id, { prices, date }]) => (prices !== 'unknown' && date === oldest ? [id] : []))
  return {
    warning: `the prices of ${name} are from ${oldest}, more than a year old: set pricing.models for ${old.join(', ')}, or update Gazeway.`,
  }
}
