import { GazewayError } from '../errors.ts'
import { MICROS_PER_USD } from '../text/money.ts'
import { type CataloguedModel, CatalogueFile } from './catalogue-file.ts'
import { fromGenaiPrices } from './genai-prices.ts'
import { PRICE_KINDS, type TokenPrices } from './preset.ts'
import { PRESETS } from './providers.ts'

/** Share of a price below which the new one is taken for a mistake. */
const LEAST_SHARE = 0.1

/**
 * Reads a catalogue in our own form, or in that of genai-prices.
 *
 * @param of what the catalogue of genai-prices does not say itself
 * @throws GazewayError `validation_failed`, which says what is wrong with the file
 */
export function readCatalogue(text: string, of: { date: string; source: string }): CatalogueFile {
  const data = jsonIn(text)
  const catalogue = Array.isArray(data) ? converted(data, of) : CatalogueFile.safeParse(data)
  if (!catalogue.success) {
    const [issue] = catalogue.error.issues
    throw refused(
      `${issue?.path.join('.') || 'the file'}: ${issue?.message}. It must be data of genai-prices, or a catalogue of Gazeway`,
    )
  }
  const models = Object.values(catalogue.data.providers).flatMap((of) => Object.keys(of))
  if (models.length === 0) throw refused('it has no prices of a known provider')
  return catalogue.data
}

function converted(data: unknown[], of: { date: string; source: string }): ReturnType<typeof CatalogueFile.safeParse> {
  try {
    return CatalogueFile.safeParse(fromGenaiPrices(data, of))
  } catch (error) {
    const { issues } = error as { issues?: readonly { path: PropertyKey[]; message: string }[] }
    if (issues === undefined) throw error
    throw refused(`${issues[0]?.path.map(String).join('.')}: ${issues[0]?.message}. It is no data of genai-prices`)
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw refused(`it is no JSON (${(error as Error).message.slice(0, 100)})`)
  }
}

const refused = (why: string): GazewayError =>
  new GazewayError('validation_failed', `--from: not stored: ${why}.`, { param: '--from' })

/** A price that falls so far that it may be a mistake, in micro-dollars for 1,000,000 tokens. */
export interface Fall {
  vendor: string
  model: string
  kind: string
  before: number
  after: number
}

/**
 * Finds prices that fall by more than 90 %, or to 0, compared with the presets and with the catalogues in use.
 *
 * @param inUse catalogues in use
 */
export function fallsIn({ providers }: CatalogueFile, inUse: readonly CatalogueFile[]): Fall[] {
  return Object.entries(providers).flatMap(([vendor, models]) =>
    Object.entries(models).flatMap(([model, prices]) => {
      const known = [presetRates(vendor, model), ...inUse.map((file) => modelOf(file, vendor, model))]
      return known
        .flatMap((before) => (before === null ? [] : fallsOf(before, prices)))
        .slice(0, 1)
        .map((fall) => ({ vendor, model, ...fall }))
    }),
  )
}

const modelOf = ({ providers }: CatalogueFile, vendor: string, model: string): CataloguedModel | null =>
  Object.hasOwn(providers, vendor) && Object.hasOwn(providers[vendor] ?? {}, model)
    ? (providers[vendor]?.[model] ?? null)
    : null

function presetRates(vendor: string, model: string): TokenPrices | null {
  const models = PRESETS.find(({ name }) => name === vendor)?.models ?? {}
  const prices = Object.hasOwn(models, model) ? models[model]?.prices : undefined
  if (prices === undefined || prices === 'unknown') return null
  const rates = PRICE_KINDS.flatMap((kind) =>
    prices[kind] === undefined ? [] : [[kind, Math.round(prices[kind] * MICROS_PER_USD)]],
  )
  return Object.fromEntries(rates)
}

const KINDS = [...PRICE_KINDS, 'audio_hour'] as const

function fallsOf(
  before: TokenPrices & Pick<CataloguedModel, 'audio_hour'>,
  model: CataloguedModel,
): Omit<Fall, 'vendor' | 'model'>[] {
  const dated = [model, ...(model.later ?? []).map(({ prices }) => prices)]
  const all = dated.flatMap((prices): (typeof before)[] => [
    prices,
    ...(prices.long_prompt ? [prices.long_prompt] : []),
  ])
  return all.flatMap((prices) =>
    KINDS.flatMap((kind) => {
      const [was, is] = [before[kind], kind === 'output' ? outputBeside(before, prices) : prices[kind]]
      return was && is !== undefined && is < was * LEAST_SHARE ? [{ kind, before: was, after: is }] : []
    }),
  )
}

/** Rate of answers. Where there was one rate for text and images, the dearest of all: it has not fallen. */
const outputBeside = (before: TokenPrices, { output, image_output = 0, video_output = 0 }: TokenPrices): number =>
  before.image_output === undefined && before.video_output === undefined
    ? Math.max(output, image_output, video_output)
    : output

/** Numbers of models whose prices are new, changed or gone. */
export function changesIn(
  next: CatalogueFile,
  before: CatalogueFile,
): { added: number; changed: number; gone: number } {
  const [is, was] = [flat(next), flat(before)]
  const kept = [...is].filter(([name]) => was.has(name))
  return {
    added: is.size - kept.length,
    changed: kept.filter(([name, prices]) => was.get(name) !== prices).length,
    gone: [...was.keys()].filter((name) => !is.has(name)).length,
  }
}

const flat = ({ providers }: CatalogueFile): Map<string, string> =>
  new Map(
    Object.entries(providers).flatMap(([vendor, models]) =>
      Object.entries(models).map(([id, prices]) => [`${vendor} ${id}`, JSON.stringify(prices)] as const),
    ),
  )
