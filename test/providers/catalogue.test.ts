import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { CatalogueFile, cataloguedModel } from '../../src/providers/catalogue-file.ts'
import { fromGenaiPrices } from '../../src/providers/genai-prices.ts'
import { isRefused, type Prices, priceOf } from '../../src/providers/prices.ts'
import { presetOf } from '../../src/providers/providers.ts'
import { loadShippedCatalogue, shippedCatalogue } from '../../src/providers/shipped-catalogue.ts'

const OF = { date: '2026-09-22', source: 'https://example.com/prices' }
const PRICES: Prices = { models: {}, price_per_1k_tokens_usd: 0.003 }
/** Catalogue of OpenAI with these models. */
const models = (...all: object[]) => fromGenaiPrices([{ id: 'openai', models: all }], OF).providers.openai
const model = (vendor: string, id: string) => ({
  requested: id,
  upstream: id,
  vendor,
  catalogue: presetOf(vendor)?.models ?? {},
})

describe('prices of genai-prices', () => {
  it('become whole micro-dollars, rounded up', () => {
    const prices = { input_mtok: 0.15, cache_read_mtok: 0.083333333, output_mtok: 0.6, web_searches_kcount: 10 }
    assert.deepEqual(models({ id: 'm', prices }), { m: { input: 150_000, cached_input: 83_334, output: 600_000 } })
  })

  it('are unknown where none is given, and not 0', () => {
    assert.deepEqual(models({ id: 'm', prices: {} }, { id: 'voice', prices: { audio_hours: 3 } }), {})
  })

  it('of recordings are by their length', () => {
    const found = models({ id: 'w', prices: { audio_hours: 0.36, input_audio_hours: 0.36 } })
    assert.deepEqual(found, { w: { input: 0, output: 0, audio_hour: 360_000 } })
    const file = CatalogueFile.parse({ ...OF, providers: { openai: found } })
    assert.deepEqual(cataloguedModel(file, 'openai', 'w', 0)?.prices, {
      input: 0,
      output: 0,
      units: { audio_second: 0.0001 },
    })
  })

  it('cost input where those of answers are missing, and the dearest kind of answer where there are several', () => {
    assert.equal(models({ id: 'm', prices: { input_mtok: 2 } })?.m?.output, 2_000_000)
    const thinking = { input_mtok: 0.3, output_mtok: 2.5, output_reasoning_mtok: 30 }
    assert.equal(models({ id: 'm', prices: thinking })?.m?.output, 30_000_000)
  })

  it('have rates of images and videos apart from those of text, which an answer may lack', () => {
    const text = { input_mtok: 0.3, output_mtok: 2.5 }
    const images = { ...text, output_image_mtok: 30, input_image_mtok: 0.4, cache_image_read_mtok: 0.1 }
    assert.deepEqual(models({ id: 'm', prices: images })?.m, {
      input: 300_000,
      output: 2_500_000,
      image_input: 400_000,
      cached_image_input: 100_000,
      image_output: 30_000_000,
    })
    const silent = { input_mtok: 1, input_video_mtok: 12, output_video_mtok: 17.5 }
    const found = { input: 1_000_000, output: 17_500_000, video_input: 12_000_000, video_output: 17_500_000 }
    assert.deepEqual(models({ id: 'm', prices: silent })?.m, found)
  })

  it('match ids and the names that are listed, and no prefixes', () => {
    const match = { or: [{ starts_with: 'm' }, { equals: 'm-latest' }, { regex: '^m-.*' }] }
    const found = models({ id: 'm', match, prices: { input_mtok: 1 } }, { id: 'm-mini', prices: { input_mtok: 2 } })
    assert.deepEqual(Object.keys(found ?? {}), ['m', 'm-latest', 'm-mini'])
  })

  it('of long prompts apply above the start, to every kind of token', () => {
    const tiers = (base: number, price: number) => ({ base, tiers: [{ start: 271_999, price }] })
    const found = models({
      id: 'm',
      prices: { input_mtok: tiers(1, 2), output_mtok: tiers(6, 9), cache_read_mtok: 0.1 },
    })
    const long_prompt = { above: 271_999, input: 2_000_000, output: 9_000_000, cached_input: 100_000 }
    assert.deepEqual(found?.m, { input: 1_000_000, output: 6_000_000, cached_input: 100_000, long_prompt })
  })

  it('by the hour are the dearest; by day the present ones, with those announced', () => {
    const at = (start_time: string, price: number) => ({ constraint: { start_time }, prices: { input_mtok: price } })
    const from = (start_date: string, price: number) => ({ constraint: { start_date }, prices: { input_mtok: price } })
    const hourly = models({ id: 'm', prices: [{ prices: { input_mtok: 1 } }, at('01:00', 3), at('06:00', 2)] })
    assert.deepEqual(hourly?.m, { input: 3_000_000, output: 3_000_000 })
    const prices = [{ prices: { input_mtok: 9 } }, from('2026-08-01', 1), from('2027-01-01', 2)]
    const announced = fromGenaiPrices([{ id: 'openai', models: [{ id: 'm', prices }] }], OF)
    const input = (day: string) => {
      const found = cataloguedModel(announced, 'openai', 'm', Date.parse(day))?.prices
      return found === 'unknown' ? null : found?.input
    }
    assert.deepEqual([input('2026-12-30T12:00Z'), input('2026-12-31T12:00Z'), input('2027-03-01')], [1, 2, 2])
  })

  it('of another shape are refused', () => {
    for (const data of [
      null,
      {},
      [{ id: 'openai' }],
      [{ id: 'openai', models: [{ id: 'm', prices: { input_mtok: 'x' } }] }],
    ])
      assert.throws(() => fromGenaiPrices(data, OF), { name: 'ZodError' })
  })
})

describe('the shipped catalogue', () => {
  before(loadShippedCatalogue)
  const inForce = (vendor: string, id: string) => {
    const found = priceOf(model(vendor, id), PRICES)
    return [found.from, found.prices.input, found.prices.output]
  }

  it('has the form of a catalogue, and prices models that the presets do not list', () => {
    const file = CatalogueFile.parse(shippedCatalogue())
    assert.equal(Object.keys(file.providers).length, 12)
    assert.deepEqual(inForce('openai', 'gpt-4o'), ['catalogue', 2.5, 10])
    assert.deepEqual(inForce('openai', 'o1-pro'), ['catalogue', 150, 600])
    assert.deepEqual(inForce('openrouter', 'anthropic/claude-opus-5'), ['catalogue', 5, 25])
    assert.deepEqual(inForce('bedrock', 'us.anthropic.claude-opus-5-v1:0'), ['catalogue', 5.5, 27.5])
  })

  it('gives way to presets, which were read later', () => {
    assert.deepEqual(inForce('openai', 'gpt-5.6'), ['catalogue', 2, 10])
  })

  it('gives way to a downloaded one that is newer than the preset', () => {
    const of = (date: string) => {
      const providers = { openai: { 'gpt-5.6': { input: 3_000_000, output: 12_000_000 } } }
      return priceOf(model('openai', 'gpt-5.6'), { ...PRICES, downloaded: { date, source: 'x', providers } }).prices
        .input
    }
    assert.deepEqual([of('2026-11-25'), of('2026-11-24'), of('2026-10-01')], [3, 2, 2])
  })

  it('prices dated ids as their base, but neither newer ones nor those that only begin alike', () => {
    assert.deepEqual(inForce('openai', 'gpt-4.1-2025-04-14'), ['catalogue', 2, 8])
    for (const [vendor, id] of [
      ['anthropic', 'claude-sonnet-5-9'],
      ['openai', 'gpt-4.1-2026-12-01'],
      ['openai', 'ft:gpt-4o:me'],
      ['openrouter', 'openrouter/auto'],
      ['openrouter', 'agentica-org/deepcoder-14b-preview:free'],
      ['openai', 'constructor'],
    ] as const)
      assert.ok(isRefused(model(vendor, id), PRICES, true), id)
  })
})
