import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { maxCost, upstreamCost } from '../../src/providers/cost.ts'
import type { Catalogue, ModelPrices } from '../../src/providers/preset.ts'
import { ageOfPrices } from '../../src/providers/price-age.ts'
import { isRefused, type PricedModel, type Prices, priceOf } from '../../src/providers/prices.ts'
import { PRESETS } from '../../src/providers/providers.ts'
import { tierIn } from '../../src/providers/tiers.ts'

const FLAT = 0.003
const page = { source: 'https://example.com/prices', date: '2026-07' }
const CATALOGUE: Catalogue = {
  fable: { prices: { input: 2, output: 10, cached_input: 0.2, cache_write: 2.5, cache_write_1h: 4 }, ...page },
  'fable-2026-01-02': { prices: { input: 7, output: 7 }, ...page },
  tale: { prices: 'unknown', ...page },
}
const prices = (models: Prices['models'] = {}): Prices => ({ models, price_per_1k_tokens_usd: FLAT })
const model = (requested: string, upstream = requested, catalogue = CATALOGUE): PricedModel => ({
  requested,
  upstream,
  catalogue,
})
const own: ModelPrices = { input: 1, output: 2 }
const used = (prompt_tokens: number, completion_tokens: number, cache: object = {}) => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
  ...cache,
})

describe('the price in force', () => {
  const cases: Array<[what: string, model: PricedModel, configured: Prices['models'], from: string, id?: string]> = [
    ['is that of the catalogue', model('fable'), {}, 'catalogue', 'fable'],
    ['is that of the catalogue for an alias', model('fast', 'fable'), {}, 'catalogue', 'fable'],
    ['is the configured one before that', model('fable'), { fable: own }, 'configuration', 'fable'],
    ['may be configured by alias', model('fast', 'fable'), { fast: own }, 'configuration', 'fast'],
    ['may be configured by the id upstream', model('fast', 'fable'), { fable: own }, 'configuration', 'fable'],
    ['is the flat one where none is known', model('other'), {}, 'flat'],
    ['is the flat one where the catalogue has none', model('tale'), {}, 'flat'],
    ['is the flat one for a base URL', model('fable', 'fable', {}), {}, 'flat'],
    ['is the flat one for what every object has', model('constructor'), {}, 'flat'],
    ['is the fixed one of a metered model', model('llm-4-1-fast-reasoning', 'fable'), {}, 'fixed'],
    [
      'is the fixed one of a metered model whose id upstream is priced',
      model('llm-4-1-fast-reasoning', 'fable'),
      { fable: own },
      'fixed',
    ],
    [
      'is the configured one of a metered model',
      model('llm-4-1-fast-reasoning', 'fable'),
      { 'llm-4-1-fast-reasoning': own },
      'configuration',
      'llm-4-1-fast-reasoning',
    ],
    ['of a snapshot is its base’s', model('fable-2026-06-30'), {}, 'catalogue', 'fable'],
    ['of a snapshot without hyphens is its base’s', model('fable-20260630'), {}, 'catalogue', 'fable'],
    ['of a snapshot with its own price is that', model('fable-2026-01-02'), {}, 'catalogue', 'fable-2026-01-02'],
    ['of a snapshot later than the price is not known', model('fable-2026-08-01'), {}, 'flat'],
    ['of another variant is not known', model('fable-mini'), {}, 'flat'],
    ['of a variant that ends with digits is not known', model('fable-0309'), {}, 'flat'],
    ['of a fine-tuned model is not known', model('ft:fable-2026-06-30:me'), {}, 'flat'],
  ]
  for (const [what, asked, configured, from, id] of cases)
    it(what, () => {
      const found = priceOf(asked, prices(configured))
      assert.deepEqual([found.from, 'id' in found ? found.id : undefined], [from, id])
    })

  it('of a model without one is what its upstream, then the configuration says', () => {
    const at = (
      unknownPrice: NonNullable<PricedModel['unknownPrice']> | null,
      unknown: Prices['unknown'] = null,
      catalogue = CATALOGUE,
    ) => {
      const asked = { ...model('tale', 'tale', catalogue), unknownPrice }
      const { from, prices: found } = priceOf(asked, { ...prices(), unknown })
      return [from, found.input, found.output]
    }
    assert.deepEqual(at(null), ['flat', 3, 3])
    assert.deepEqual(at(null, 'dearest'), ['dearest', 7, 10], 'of each kind, at this provider')
    assert.deepEqual(at(null, 'dearest', {}).slice(0, 1), ['dearest'], 'of all providers, at a base URL')
    assert.deepEqual(at('free', 'dearest'), ['free', 0, 0])
    assert.deepEqual(at('flat', 'dearest'), ['flat', 3, 3])
    assert.deepEqual(at('fixed', 'dearest'), ['fixed', 3, 3])
  })

  it('is missing where calls are refused: of keys with limits by default', () => {
    const refused = (isHeld: boolean, of: Partial<PricedModel> = {}, unknown: Prices['unknown'] = null) =>
      isRefused({ ...model('tale'), ...of }, { ...prices(), unknown }, isHeld)
    assert.deepEqual([refused(true), refused(false)], [true, false])
    assert.deepEqual([refused(true, {}, 'refuse'), refused(false, {}, 'refuse')], [true, true])
    assert.deepEqual([refused(true, {}, 'flat'), refused(true, {}, 'dearest')], [false, false])
    assert.deepEqual([refused(true, { unknownPrice: 'free' }, 'refuse'), refused(true, model('fable'))], [false, false])
    assert.deepEqual([refused(false, { unknownPrice: 'refuse' }, 'flat')], [true])
    assert.deepEqual(refused(true, model('llm-4-1-fast-reasoning')), false)
  })

  it('is that of the own page for every model of every preset', () => {
    for (const { models } of PRESETS)
      for (const [id, { prices: known, source, date }] of Object.entries(models)) {
        const found = priceOf(model(id, id, models), prices())
        const expected = known === 'unknown' ? ['flat'] : ['catalogue', source, date]
        assert.deepEqual([found.from, ...sourceOf(found)], expected, id)
      }
  })
})

const sourceOf = (found: object) => ('source' in found && 'date' in found ? [found.source, found.date] : [])

describe('the cost of a call', () => {
  it('is exactly 3 micro-dollars a token at the flat price', () => {
    assert.equal(upstreamCost(used(700, 301), model('other'), prices()), 3003)
    assert.equal(upstreamCost(null, model('other'), prices()), 0)
  })

  it('counts cached input and both kinds of cache writes apart', () => {
    const cache = { cached_tokens: 500_000, cache_write_tokens: 400_000, cache_write_1h_tokens: 100_000 }
    const cost = upstreamCost(used(1_000_000, 10_000, cache), model('fable'), prices())
    assert.equal(cost, 0.1 * 2e6 + 0.5 * 0.2e6 + 0.3 * 2.5e6 + 0.1 * 4e6 + 0.01 * 10e6)
  })

  it('charges cached input and cache writes as input when their price is unknown', () => {
    const cache = { cached_tokens: 40, cache_write_tokens: 50, cache_write_1h_tokens: 20 }
    assert.equal(upstreamCost(used(100, 0, cache), model('m'), prices({ m: own })), 100)
  })

  it('is rounded up, once for all of a call', () => {
    const odd = prices({ m: { input: 0.1, output: 0.1 } })
    assert.equal(upstreamCost(used(1, 0), model('m'), odd), 1)
    assert.equal(upstreamCost(used(6, 6), model('m'), odd), 2)
    assert.equal(upstreamCost(used(10, 10), model('m'), odd), 2)
  })

  const long = { above: 1000, input: 4, output: 15 }
  const tiered = prices({
    m: { input: 2, output: 10, long_prompt: long, service_tiers: { flex: { input: 1, output: 5 } } },
    p: { input: 2, output: 10, service_tiers: { priority: { input: 5, output: 20, cached_input: 1 } } },
  })

  it('is that of a long prompt from the first token above the limit, for all tokens', () => {
    assert.equal(upstreamCost(used(1000, 100), model('m'), tiered), 1000 * 2 + 100 * 10)
    assert.equal(upstreamCost(used(1001, 100), model('m'), tiered), 1001 * 4 + 100 * 15)
  })

  it('is that of the service tier that answered', () => {
    const cost = (id: string, tier: string | null, prompt = 100) =>
      upstreamCost(used(prompt, 10, { cached_tokens: 20 }), model(id), tiered, tierIn({ service_tier: tier }))
    assert.deepEqual([cost('m', null), cost('m', 'flex'), cost('p', 'priority')], [300, 150, 80 * 5 + 20 + 10 * 20])
    assert.equal(cost('m', 'flex', 2000), 2000 * 4 + 10 * 15, 'the dearest that applies: a long prompt')
    assert.equal(cost('p', 'scale'), 80 * 5 + 20 * 2 + 10 * 20, 'the dearest known of each kind')
    assert.equal(cost('m', 'priority'), 300)
  })

  it('is the standard one for the other names of the standard tier', () => {
    for (const service_tier of ['auto', 'default', 'standard', 'standard_only', 'on_demand', null, 7, undefined])
      assert.equal(tierIn({ service_tier }).service, null)
    assert.equal(tierIn({ service_tier: 'flex' }).service, 'flex')
  })

  it('sets aside the rate of an hour in the cache where the request asks for it alone', () => {
    const most = (isKeptForHour: boolean) =>
      maxCost({ prompt: 1000, answer: 0, isKeptForHour }, [model('fable')], prices())
    assert.deepEqual([most(false), most(true)], [2500, 4000])
  })

  it('is never above what was set aside for as many tokens', () => {
    const usd = fc.integer({ min: 0, max: 100_000_000 }).map((micros) => micros / 1e6)
    const ofTokens = { input: usd, output: usd, cached_input: usd, cache_write: usd, cache_write_1h: usd }
    const requiredKeys: ['input', 'output'] = ['input', 'output']
    const rates = fc.record(
      {
        ...ofTokens,
        long_prompt: fc.record({ ...ofTokens, above: fc.nat(2_000_000) }, { requiredKeys: [...requiredKeys, 'above'] }),
        service_tiers: fc.record({ flex: fc.record(ofTokens, { requiredKeys }) }),
      },
      { requiredKeys },
    )
    const tiers = fc.constantFrom(null, 'flex', 'priority')
    const tokens = fc.nat(2_000_000)
    fc.assert(
      fc.property(
        rates,
        rates,
        tokens,
        tokens,
        fc.tuple(tokens, tokens, tokens),
        tiers,
        (a, b, prompt, answer, cache, tier) => {
          const cached_tokens = Math.min(cache[0], prompt)
          const cache_write_tokens = Math.min(cache[1], prompt - cached_tokens)
          const cache_write_1h_tokens = Math.min(cache[2], cache_write_tokens)
          const usage = used(prompt, answer, { cached_tokens, cache_write_tokens, cache_write_1h_tokens })
          const both = prices({ a, b })
          const isKeptForHour = cache_write_1h_tokens > 0
          const most = maxCost(
            { prompt, answer, tiers: [{ service_tier: tier }], isKeptForHour },
            [model('a'), model('b')],
            both,
          )
          for (const [id, answering] of ['a', 'b'].flatMap((id) => [[id, tier] as const, [id, null] as const])) {
            const cost = upstreamCost(usage, model(id), both, tierIn({ service_tier: answering }))
            assert.ok(Number.isSafeInteger(cost) && cost >= 0 && cost <= most, `${cost} of ${most}`)
          }
        },
      ),
    )
  })
})

describe('the age of a catalogue', () => {
  const of = (configured: object, at: string) =>
    ageOfPrices({ name: 'fables', catalogue: CATALOGUE }, { ...configured }, new Date(at))

  it('is shown, and warned of after a year', () => {
    assert.equal(of({}, '2027-06-30'), 'of fables, read 2026-07 or later')
    const warned = of({}, '2027-07-02')
    assert.match(typeof warned === 'string' ? '' : warned.warning, /from 2026-07.*fable, fable-2026-01-02.*Gazeway/)
  })

  it('does not matter for models whose price is configured', () => {
    assert.match(String(of({ fable: own, 'fable-2026-01-02': own }, '2030-01-01')), /^fables has no catalogue/)
  })
})
