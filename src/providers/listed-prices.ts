import { fieldsOrNone, objectsOrNone } from '../text/lenient-reader.ts'
import { MICROS_PER_USD } from '../text/money.ts'
import type { Fields } from '../text/typed-reader.ts'
import { dearerPrices, type ModelPrices, type PresetModel, type TokenPrices } from './preset.ts'

/** Prices that a provider's own list of models states. */
export interface ListedPrices {
  /** Price of a model in the newest list. Null when it states none. */
  of(id: string): PresetModel | null
  /** Number of lists so far: another one may have other prices. */
  version(): number
  /** Takes the prices of a new list. */
  take(body: unknown, now: Date): void
}

/** @param source address of the list, as records name it */
export function createListedPrices(source: string): ListedPrices {
  let listed: ReadonlyMap<string, ModelPrices> = new Map()
  let date = ''
  let version = 0
  return {
    of(id) {
      const prices = listed.get(id)
      return prices === undefined ? null : { prices, source, date }
    },
    version: () => version,
    take(body, now) {
      listed = readListedPrices(body)
      date = now.toISOString().slice(0, 10)
      version += 1
    },
  }
}

/**
 * Reads the prices in a list of models:
 * - OpenRouter: `pricing` in US dollars for one token, as text (https://openrouter.ai/docs/api-reference/list-available-models)
 * - Together: `pricing` in US dollars for 1,000,000 tokens (https://docs.together.ai/reference/models-1)
 *
 * A price of 0 counts only for a model that is named as free; others have an unknown one there.
 */
export function readListedPrices(body: unknown): ReadonlyMap<string, ModelPrices> {
  const entries = Array.isArray(body) ? body : fieldsOrNone(body).data
  const prices = new Map<string, ModelPrices>()
  for (const { id, pricing } of objectsOrNone(entries)) {
    const given = fieldsOrNone(pricing)
    const found = given.prompt === undefined ? perMillion(given) : perToken(given)
    if (found !== null && (found.input + found.output > 0 || String(id).endsWith(':free')))
      prices.set(String(id), found)
  }
  return prices
}

function perMillion({ input, output, cached_input }: Fields): ModelPrices | null {
  const rates = [input, output].map((rate) => usd(rate, 1))
  const [read, written] = rates
  if (read === undefined || written === undefined) return null
  return { input: read, output: written, ...known({ cached_input: usd(cached_input, 1) }) }
}

/** Prices with the dearest overrides: of long prompts apart, and of hours of the day. */
function perToken(given: Fields): ModelPrices | null {
  // A fee for each request has no place among the prices of tokens.
  if (Number(given.request ?? 0) > 0) return null
  const base = tokenPrices(given)
  if (base === null) return null
  const overrides = objectsOrNone(given.overrides).flatMap((override) => {
    const prices = tokenPrices({ ...given, ...override })
    return prices === null ? [] : [{ above: override.min_prompt_tokens, prices }]
  })
  const standard = overrides
    .filter(({ above }) => above === undefined)
    .reduce((all, { prices }) => dearerPrices(all, prices), base)
  const long = overrides.filter(({ above }) => Number.isSafeInteger(above) && (above as number) > 1)
  const search = usd(given.web_search, 1)
  return {
    ...standard,
    ...(long.length > 0 && {
      long_prompt: {
        above: Math.min(...long.map(({ above }) => above as number)) - 1,
        ...long.map(({ prices }) => prices).reduce(dearerPrices, standard),
      },
    }),
    ...(search !== undefined && search > 0 && { units: { search } }),
  }
}

function tokenPrices(given: Fields): TokenPrices | null {
  const input = usd(given.prompt, MICROS_PER_USD)
  const answer = usd(given.completion, MICROS_PER_USD)
  if (input === undefined || answer === undefined) return null
  const output = Math.max(answer, usd(given.internal_reasoning, MICROS_PER_USD) ?? 0)
  const others = {
    cached_input: usd(given.input_cache_read, MICROS_PER_USD),
    cache_write: usd(given.input_cache_write, MICROS_PER_USD),
    cache_write_1h: usd(given.input_cache_write_1h, MICROS_PER_USD),
    audio_input: usd(given.audio, MICROS_PER_USD),
    cached_audio_input: usd(given.input_audio_cache, MICROS_PER_USD),
    audio_output: usd(given.audio_output, MICROS_PER_USD),
    image_input: usd(given.image_token, MICROS_PER_USD),
    image_output: usd(given.image_output, MICROS_PER_USD),
  }
  return { input, output, ...known(others) }
}

/** A price in US dollars for as many, rounded up to whole micro-dollars. Undefined for none, and a negative one. */
function usd(price: unknown, times: number): number | undefined {
  const value = typeof price === 'string' && price.trim() !== '' ? Number(price) : price
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0 || value > MICROS_PER_USD) return undefined
  return Math.ceil(Number((value * times * MICROS_PER_USD).toPrecision(12))) / MICROS_PER_USD
}

/** Rates above 0, also of a model with other prices: where a list has 0, the rate of input or output applies. */
const known = <Rates extends object>(rates: Rates): Partial<Rates> =>
  Object.fromEntries(Object.entries(rates).filter(([, rate]) => rate > 0)) as Partial<Rates>
