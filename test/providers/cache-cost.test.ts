import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { costOfMiss, savedByCache } from '../../src/providers/cache-cost.ts'
import type { PricedModel } from '../../src/providers/prices.ts'
import { STANDARD_TIER } from '../../src/providers/tiers.ts'

const MODEL: PricedModel = { requested: 'm', upstream: 'm', catalogue: {} }
const price = { input: 3, output: 15, cached_input: 0.3, cache_write: 3.75, cache_write_1h: 6 }
const PRICES = { models: { m: price, flat: { input: 1, output: 2 } }, price_per_1k_tokens_usd: 0.003 }
const usageOf = (prompt_tokens: number, cached_tokens = 0, cache_write_tokens = 0, cache_write_1h_tokens = 0) => ({
  ...{ prompt_tokens, completion_tokens: 1, total_tokens: prompt_tokens + 1 },
  ...{ cached_tokens, cache_write_tokens, cache_write_1h_tokens },
})
const used = (usage: ReturnType<typeof usageOf>) => ({ usage, tier: STANDARD_TIER, stated: null })

describe('the money of prompt caches', () => {
  it('is what cached tokens cost less than input, to the micro-dollar', () =>
    fc.assert(
      fc.property(fc.nat(1e6), fc.nat(1e6), fc.nat(1e6), (fresh, cached, written) => {
        const saved = savedByCache(used(usageOf(fresh + cached + written, cached, written)), MODEL, PRICES)
        assert.equal(saved, Number((BigInt(cached) * 2_700_000n) / 1_000_000n))
      }),
      { numRuns: 200 },
    ))

  it('is what missed tokens cost more: those written again for an hour, then other writes, then input', () => {
    const missed = (tokens: number, usage: ReturnType<typeof usageOf>) =>
      costOfMiss(tokens, usage, { tier: STANDARD_TIER }, MODEL, PRICES)
    assert.equal(missed(0, usageOf(10_000)), 0)
    assert.equal(missed(1000, usageOf(10_000)), 2700)
    assert.equal(missed(1000, usageOf(10_000, 0, 9000)), 3450)
    assert.equal(missed(1000, usageOf(10_000, 0, 600)), 600 * 3.45 + 400 * 2.7)
    assert.equal(missed(1000, usageOf(10_000, 0, 900, 500)), 500 * 5.7 + 400 * 3.45 + 100 * 2.7)
    assert.equal(missed(1, usageOf(10_000)), 2)
  })

  it('is none where cached input has no price of its own, and adds up over the models of an answer', () => {
    const flat = { ...MODEL, requested: 'flat', upstream: 'flat' }
    assert.equal(savedByCache(used(usageOf(5000, 4000)), flat, PRICES), 0)
    assert.equal(costOfMiss(4000, usageOf(5000), { tier: STANDARD_TIER }, flat, PRICES), 0)
    const parts = [
      { model: null, usage: usageOf(2000, 1000) },
      { model: 'flat', usage: usageOf(2000, 1000) },
    ]
    assert.equal(savedByCache({ ...used(usageOf(4000, 2000)), parts }, MODEL, PRICES), 2700)
  })
})
