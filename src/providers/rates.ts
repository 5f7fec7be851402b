import { MICROS_PER_USD, type Micros } from '../text/money.ts'
import { ownValue } from '../text/own-value.ts'
import { MEDIA, type Medium, type ModelPrices, rateIn, type TokenPrices } from './preset.ts'
import type { Fees } from './priced-fields.ts'
import type { CallTier, TierPercents } from './tiers.ts'

/** Kinds of tokens, with their names in prices. */
const KINDS = {
  input: 'input',
  output: 'output',
  cachedInput: 'cached_input',
  cacheWrite: 'cache_write',
  cacheWriteHour: 'cache_write_1h',
  audioInput: 'audio_input',
  cachedAudioInput: 'cached_audio_input',
  audioOutput: 'audio_output',
  imageInput: 'image_input',
  cachedImageInput: 'cached_image_input',
  imageOutput: 'image_output',
  videoInput: 'video_input',
  cachedVideoInput: 'cached_video_input',
  videoOutput: 'video_output',
} as const
type Kind = keyof typeof KINDS
const NAMES = Object.keys(KINDS) as Kind[]

/** Rates of each medium, in the prompt, from the cache and in the answer. */
export const RATES_OF = {
  audio: { input: 'audioInput', cached: 'cachedAudioInput', output: 'audioOutput' },
  image: { input: 'imageInput', cached: 'cachedImageInput', output: 'imageOutput' },
  video: { input: 'videoInput', cached: 'cachedVideoInput', output: 'videoOutput' },
} as const satisfies Record<Medium, Record<'input' | 'cached' | 'output', Kind>>

const ratesIn = (medium: Medium): Kind[] => Object.values(RATES_OF[medium])
const OF_MEDIA: ReadonlySet<Kind> = new Set(MEDIA.flatMap(ratesIn))
const TEXT = NAMES.filter((kind) => !OF_MEDIA.has(kind))

/** Rates of each kind of token, in micro-dollars per 1,000,000. */
export type Rates = Readonly<Record<Kind, Micros>>

const eachKind = (of: (kind: Kind) => Micros): Rates =>
  Object.fromEntries(NAMES.map((kind) => [kind, of(kind)])) as Rates

/** Rates of a model, by tier and length of the prompt. */
export interface RateCard {
  /** Prices by the piece, in micro-dollars. That of a second may be a fraction: prices are by the hour. */
  units: Fees
  standard: Rates
  tiers: ReadonlyMap<string, Rates>
  /** Dearest rates over the tiers, for a tier without a known price. */
  dearest: Rates
  long: { above: number; rates: Rates } | null
}

/** Builds the rates of a model's prices. */
export function cardOf({ long_prompt: long, service_tiers = {}, units = {}, ...prices }: ModelPrices): RateCard {
  const standard = ratesOf(prices)
  const tiers = new Map(Object.entries(service_tiers).map(([tier, of]) => [tier, ratesOf(of)]))
  const set = Object.entries(units).flatMap(([unit, usd]) =>
    usd === undefined ? [] : [[unit, unit === 'audio_second' ? usd * MICROS_PER_USD : micros(usd)]],
  )
  return {
    units: Object.fromEntries(set),
    standard,
    tiers,
    dearest: [...tiers.values()].reduce(dearer, standard),
    long: long ? { above: long.above, rates: ratesOf(long) } : null,
  }
}

/** Rates of a model with the percentages of tiers that have no rates of their own. */
type ScaledCard = RateCard & { percents: TierPercents }

/** Returns the rates of one call. Where a tier meets a long prompt, or has no known price, the dearest that apply. */
export function ratesOfCall(card: ScaledCard, { service, speed, region }: CallTier, prompt: number): Rates {
  const { percents } = card
  const rates = ratesOfService(card, service, prompt)
  if (speed === null && region === null) return rates
  return scaled(scaled(rates, percentOf(percents.speed, speed)), percentOf(percents.region, region))
}

function ratesOfService(card: ScaledCard, service: string | null, prompt: number): Rates {
  const { standard, tiers, dearest, long, percents } = card
  const isLong = long !== null && prompt > long.above
  if (service === null) return isLong ? long.rates : standard
  const listed = tiers.get(service)
  const percent = listed === undefined ? ownValue(percents.service ?? {}, service) : undefined
  if (percent !== undefined) return scaled(isLong ? long.rates : standard, percent)
  const rates = listed ?? dearer(dearest, scaled(standard, percentOf(percents.service, service)))
  return isLong ? dearer(rates, long.rates) : rates
}

/** Percentage for a name: the dearest for one that is not known. 100 where a provider has none. */
function percentOf(known: Readonly<Record<string, number>> = {}, name: string | null): number {
  if (name === null) return 100
  return ownValue(known, name) ?? Math.max(100, ...Object.values(known))
}

/** Rates at a percentage, rounded up to whole micro-dollars for 1,000,000 tokens. */
const scaled = (rates: Rates, percent: number): Rates =>
  percent === 100 ? rates : eachKind((kind) => Math.ceil((rates[kind] * percent) / 100))

/** Returns the higher of each two rates. */
export const dearer = (one: Rates, other: Rates): Rates => eachKind((kind) => Math.max(one[kind], other[kind]))

/** Whole micro-dollars per 1,000,000 tokens. */
const ratesOf = (prices: TokenPrices): Rates => eachKind((kind) => micros(rateIn(prices, KINDS[kind])))

/** The rates in US dollars per 1,000,000 tokens. */
export const pricesOf = (rates: Rates): TokenPrices => pricesAt(NAMES, rates) as TokenPrices

/** The same of text alone, and of some media. */
export const pricesWith = (media: readonly Medium[], rates: Rates): TokenPrices =>
  pricesAt([...TEXT, ...media.flatMap(ratesIn)], rates) as TokenPrices

const pricesAt = (kinds: readonly Kind[], rates: Rates): Partial<TokenPrices> =>
  Object.fromEntries(kinds.map((kind) => [KINDS[kind], rates[kind] / MICROS_PER_USD]))

const micros = (usd: number): Micros => Math.round(usd * MICROS_PER_USD)

/** Returns the dearest rates of a model over long prompts and tiers. */
export function dearestRates(prices: ModelPrices): Rates {
  const { long, dearest } = cardOf(prices)
  return long === null ? dearest : dearer(dearest, long.rates)
}
