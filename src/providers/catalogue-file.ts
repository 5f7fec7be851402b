import * as z from 'zod'
import { MICROS_PER_USD } from '../text/money.ts'
import { dearerPrices, eachMediumKind, PRICE_KINDS, type PresetModel, type TokenPrices } from './preset.ts'

const micros = z.int().min(0).max(1e12)
const rates = z.strictObject({
  input: micros,
  output: micros,
  cached_input: micros.optional(),
  cache_write: micros.optional(),
  cache_write_1h: micros.optional(),
  ...eachMediumKind(() => micros.optional()),
})
const day = z.iso.date()

/** Prices: whole micro-dollars for 1,000,000 tokens, so that they are exact. */
const prices = rates.extend({
  /** Prices of a call whose prompt has more than `above` tokens. */
  long_prompt: rates.extend({ above: z.int().min(1) }).optional(),
  /** Price of an hour of a recording, in micro-dollars, of a model that has no price of tokens: those are 0. */
  audio_hour: micros.min(1).optional(),
})
const CataloguedModel = prices.extend({
  /** Announced prices, by the day from which they apply. */
  later: z.array(z.strictObject({ from: day, prices })).optional(),
})
export type CataloguedModel = z.infer<typeof CataloguedModel>

/** A catalogue of prices: the one that is shipped, and a newer one in the data folder. */
export const CatalogueFile = z.strictObject({
  /** Day of the prices. */
  date: day,
  /** Origin of the prices. */
  source: z.string().max(2048),
  /** Models by preset, then by id. */
  providers: z.record(z.string(), z.record(z.string(), CataloguedModel)),
})
export type CatalogueFile = z.infer<typeof CatalogueFile>

/**
 * Finds the prices of a model on a day. Where others apply from the next day on, the dearer of each kind: a call may
 * last over midnight.
 *
 * @param now milliseconds since 1970
 */
export function cataloguedModel(file: CatalogueFile, vendor: string, id: string, now: number): PresetModel | null {
  const models = Object.hasOwn(file.providers, vendor) ? file.providers[vendor] : undefined
  const model = models && Object.hasOwn(models, id) ? models[id] : undefined
  if (model === undefined) return null
  const { later = [], ...standard } = model
  const [today, tomorrow] = [now, now + 86_400_000].map((at) => new Date(at).toISOString().slice(0, 10))
  const inForce = (on = '') => later.findLast(({ from }) => from <= on)?.prices ?? standard
  const [present, next] = [inForce(today), inForce(tomorrow)]
  const [long, longNext] = [present.long_prompt, next.long_prompt]
  const longest =
    long && longNext
      ? { above: Math.min(long.above, longNext.above), ...dearerPrices(long, longNext) }
      : (long ?? longNext)
  const hour = Math.max(present.audio_hour ?? 0, next.audio_hour ?? 0)
  return {
    prices: {
      ...inUsd(dearerPrices(present, next)),
      ...(longest && { long_prompt: { above: longest.above, ...inUsd(longest) } }),
      ...(hour > 0 && { units: { audio_second: hour / SECONDS_PER_HOUR / MICROS_PER_USD } }),
    },
    source: file.source,
    date: file.date,
  }
}

const SECONDS_PER_HOUR = 3600

const inUsd = (prices: TokenPrices): TokenPrices => {
  const known = PRICE_KINDS.flatMap((kind) =>
    prices[kind] === undefined ? [] : [[kind, prices[kind] / MICROS_PER_USD]],
  )
  return Object.fromEntries(known)
}
