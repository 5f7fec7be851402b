import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { CallFilter } from '../../src/calls/call-list.ts'
import {
  addLatencies,
  addLatency,
  bucketLatency,
  type LatencyCounts,
  latenciesText,
  latencyBucket,
  quantile,
} from '../../src/calls/latency-buckets.ts'
import { upstreamCost } from '../../src/providers/prices.ts'

describe('latency buckets', () => {
  it('stand for their latencies within 2.5 %', () => {
    fc.assert(
      fc.property(fc.integer({ min: 20, max: 3_600_000 }), (ms) => {
        assert.ok(Math.abs(bucketLatency(latencyBucket(ms)) - ms) <= ms * 0.025 + 0.5)
      }),
    )
  })

  it('come back as they were stored, and add up', () => {
    const counts: LatencyCounts = []
    addLatency(counts, 95, 2)
    addLatency(counts, 93, 4)
    assert.equal(latenciesText(counts), '[93,4,95,2]')
    addLatencies(counts, '[0,1,95,3]')
    assert.equal(latenciesText(counts), '[0,1,93,4,95,5]')
    assert.deepEqual(
      [0.1, 0.5, 0.51, 1].map((q) => quantile(counts, q)),
      [0, 93, 95, 95].map(bucketLatency),
    )
    assert.equal(quantile([], 0.5), null)
  })
})

describe('prices', () => {
  it('cost exactly 3 micro-dollars a token by default', () => {
    const usage = { prompt_tokens: 700, completion_tokens: 301, total_tokens: 1001 }
    const prices = { models: { cheap: 0.0001 }, price_per_1k_tokens_usd: 0.003 }
    assert.equal(upstreamCost(usage, 'any', prices), 3003)
    assert.equal(upstreamCost(usage, 'cheap', prices), 101, 'a fraction of a micro-dollar is rounded up')
    assert.equal(upstreamCost(null, 'any', prices), 0)
    assert.equal(upstreamCost(usage, 'constructor', prices), 3003, 'which every object has')
  })
})

describe('a filter of calls', () => {
  it('names a model and a caller, or leaves them out', () => {
    for (const field of ['model', 'caller_id']) {
      assert.ok(!CallFilter.safeParse({ [field]: '' }).success, 'the totals know those without one by it')
      assert.ok(CallFilter.safeParse({ [field]: 'x' }).success)
    }
  })
})
