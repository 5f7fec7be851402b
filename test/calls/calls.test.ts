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

describe('a filter of calls', () => {
  it('names a model and a caller, or leaves them out', () => {
    for (const field of ['model', 'caller_id']) {
      assert.ok(!CallFilter.safeParse({ [field]: '' }).success, 'the totals know those without one by it')
      assert.ok(CallFilter.safeParse({ [field]: 'x' }).success)
    }
  })
})
