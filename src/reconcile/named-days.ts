import type { CountedCalls } from './counted-calls.ts'
import type { Bill } from './provider-bill.ts'

/**
 * Finds the days on which the calls of a key of the provider were recorded with its id, as far as the bill names it, too.
 * The configuration may name a key from the middle of a month on, or no longer: its calls are among those without an id on
 * the days before, or after, and on the day of the change.
 *
 * @returns tells whether the key is compared alone on a day
 */
export function namedDays(
  { keys, lines }: Bill,
  counted: readonly CountedCalls[],
): (id: string, day: string) => boolean {
  const unnamed = new Set(counted.filter(({ provider_key }) => provider_key === '').map(({ day }) => day))
  const spans = new Map<string, { first: string; last: string }>()
  for (const { provider_key: id, day } of counted) {
    const span = spans.get(id) ?? { first: day, last: day }
    if (day < span.first) span.first = day
    if (day > span.last) span.last = day
    spans.set(id, span)
  }
  const named = new Map<string, (day: string) => boolean>()
  for (const { id } of keys) {
    const span = spans.get(id)
    if (span === undefined) continue
    const { first, last } = span
    const billedUnnamed = lines.filter(({ key, day }) => key === id && unnamed.has(day))
    const begins = billedUnnamed.some(({ day }) => day < first)
    const ends = billedUnnamed.some(({ day }) => day > last)
    const isChange = (day: string) => day < first || day > last || (begins && day === first) || (ends && day === last)
    named.set(id, (day) => !(isChange(day) && unnamed.has(day)))
  }
  return (id, day) => named.get(id)?.(day) ?? false
}
