import * as z from 'zod'
import { MICROS_PER_USD } from '../text/money.ts'
import type { CataloguedModel, CatalogueFile } from './catalogue-file.ts'
import { dearerPrices } from './preset.ts'

/**
 * Reads prices in the form of `@pydantic/genai-prices` (MIT, https://github.com/pydantic/genai-prices).
 *
 * What it says is not taken as it is:
 * - An empty record of prices is an unknown price, and no free model.
 * - Its matches by prefix would price models that are newer than it. Only ids and names that it lists are taken.
 * - A model that has a price of reasoning has the dearest rate of its output.
 * - Prices by the hour of the day are the dearest.
 * - An hour of a voice, which speaks and listens, is no price of a recording, and unknown.
 */

/** Presets, by the provider's id there. */
const VENDORS: Readonly<Record<string, string>> = {
  'x-ai': 'xai',
  openai: 'openai',
  anthropic: 'anthropic',
  openrouter: 'openrouter',
  google: 'gemini',
  groq: 'groq',
  mistral: 'mistral',
  deepseek: 'deepseek',
  together: 'together',
  fireworks: 'fireworks',
  azure: 'azure',
  aws: 'bedrock',
}

const BEDROCK_VERSION = /-v\d+(?::\d+)?$/

const Tiered = z.object({ base: z.number(), tiers: z.array(z.object({ start: z.number(), price: z.number() })) })
const Rates = z.record(z.string(), z.union([z.number(), Tiered]))
const Dated = z.object({
  constraint: z.object({ start_date: z.string().optional(), start_time: z.string().optional() }).nullish(),
  prices: Rates,
})
const Data = z.array(
  z.object({
    id: z.string(),
    models: z.array(
      z.object({ id: z.string(), match: z.unknown().optional(), prices: z.union([Rates, z.array(Dated)]) }),
    ),
  }),
)

type Rates = z.infer<typeof Rates>

/**
 * Converts data of genai-prices to a catalogue.
 *
 * @param of.date day of the data
 * @throws ZodError for data of another shape
 */
export function fromGenaiPrices(data: unknown, { date, source }: { date: string; source: string }): CatalogueFile {
  const providers: CatalogueFile['providers'] = {}
  for (const { id, models } of Data.parse(data)) {
    const vendor = VENDORS[id]
    if (vendor === undefined) continue
    const priced = models.flatMap((model) => {
      const prices = modelIn(model.prices, date)
      return prices === null ? [] : [{ ...model, prices }]
    })
    // An answer of Bedrock names its model without the profile, which decides the price.
    const isNamed = (alias: string) => id !== 'aws' || alias.includes('.')
    const aliases = priced.flatMap(({ match, prices }) =>
      equalsIn(match)
        .filter(isNamed)
        .map((alias) => [alias, prices] as const),
    )
    // Versions of an id in Bedrock, such as -v1:0, change no price.
    const own = priced.map((model) => [model.id.replace(BEDROCK_VERSION, ''), model.prices] as const)
    // A model's own id takes precedence over an alias of another one.
    providers[vendor] = Object.fromEntries([...aliases, ...own].sort(([a], [b]) => (a < b ? -1 : 1)))
    for (const [name, prices] of own) providers[vendor][name] = prices
  }
  return { date, source, providers }
}

/** Names that match a model exactly. */
function equalsIn(match: unknown): string[] {
  const { equals, or } = (match ?? {}) as { equals?: unknown; or?: unknown }
  if (typeof equals === 'string') return [equals]
  return Array.isArray(or) ? or.flatMap(equalsIn) : []
}

/** Prices of a model on a day, and announced ones. Null when they are unknown. */
function modelIn(prices: Rates | z.infer<typeof Dated>[], date: string): CataloguedModel | null {
  if (!Array.isArray(prices)) return pricesIn(prices)
  const periods: { from: string; prices: CataloguedModel }[] = []
  for (const { constraint, prices: of } of prices) {
    const found = pricesIn(of)
    if (found === null) return null
    const last = periods.at(-1)
    if (last !== undefined && constraint?.start_time !== undefined)
      last.prices = { ...last.prices, ...dearerPrices(last.prices, found) }
    else periods.push({ from: constraint?.start_date ?? '', prices: found })
  }
  const present = periods.findLast(({ from }) => from <= date)
  if (present === undefined) return null
  const later = periods.filter(({ from }) => from > date)
  return { ...present.prices, ...(later.length > 0 && { later }) }
}

const OUTPUTS = ['output_mtok', 'output_reasoning_mtok']
/** Prices of answers of a model that has none of text. */
const OTHER_OUTPUTS = ['output_audio_mtok', 'output_image_mtok', 'output_video_mtok']

/** Kinds of tokens beside input and output, by their names there. */
const OTHERS = {
  cached_input: 'cache_read_mtok',
  cache_write: 'cache_write_mtok',
  cache_write_1h: 'cache_write_1h_mtok',
  audio_input: 'input_audio_mtok',
  cached_audio_input: 'cache_audio_read_mtok',
  audio_output: 'output_audio_mtok',
  image_input: 'input_image_mtok',
  cached_image_input: 'cache_image_read_mtok',
  image_output: 'output_image_mtok',
  video_input: 'input_video_mtok',
  cached_video_input: 'cache_video_read_mtok',
  video_output: 'output_video_mtok',
}

/** Rates of a model. Null without a rate of input or of recordings; answers without a rate cost as much as input. */
function pricesIn(rates: Rates): CataloguedModel | null {
  const hour = rates.input_audio_hours
  if (rates.input_mtok === undefined && typeof hour === 'number' && hour > 0)
    return { input: 0, output: 0, audio_hour: micros(hour) }
  if (rates.input_mtok === undefined) return null
  const above = Math.min(...Object.values(rates).flatMap((rate) => (typeof rate === 'number' ? [] : startOf(rate))))
  const isLong = above !== Number.POSITIVE_INFINITY
  return { ...ratesAt(rates, 0), ...(isLong && { long_prompt: { above, ...ratesAt(rates, above + 1) } }) }
}

const startOf = ({ tiers }: z.infer<typeof Tiered>): number[] => tiers.map(({ start }) => start)

function ratesAt(rates: Rates, prompt: number) {
  const at = (kind: string): number | undefined => {
    const rate = rates[kind]
    if (rate === undefined || typeof rate === 'number') return rate
    return Math.max(rate.base, ...rate.tiers.filter(({ start }) => prompt > start).map(({ price }) => price))
  }
  const input = at('input_mtok') ?? 0
  const known = (kinds: readonly string[]) => kinds.map(at).filter((rate) => rate !== undefined)
  const outputs = [OUTPUTS, OTHER_OUTPUTS].map(known).find((found) => found.length > 0) ?? [input]
  const others = Object.entries(OTHERS).flatMap(([name, kind]) => {
    const rate = at(kind)
    return rate === undefined ? [] : [[name, micros(rate)] as const]
  })
  return {
    input: micros(input),
    output: micros(Math.max(...outputs)),
    ...(Object.fromEntries(others) as Partial<Record<keyof typeof OTHERS, number>>),
  }
}

/** Micro-dollars for 1,000,000 tokens, rounded up: some rates are no whole ones. */
const micros = (usd: number): number => Math.ceil(Number((usd * MICROS_PER_USD).toPrecision(12)))
