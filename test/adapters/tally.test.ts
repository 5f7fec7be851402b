import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Histogram, Registry } from 'prom-client'
import { tallyingHistogram } from '../../adapters/metrics/tallying-metrics.ts'

describe('a tallying histogram', () => {
  it('tells what prom-client’s own tells of the same observations, at each reading', async () => {
    const configuration = {
      name: 'waited_seconds',
      help: 'How long.\nIn seconds.',
      labelNames: ['route', 'method'] as const,
      buckets: [0.001, 0.25, 1, 120],
    }
    const [own, reference] = [new Registry(), new Registry()]
    const tallying = tallyingHistogram({ ...configuration, registers: [own] })
    const histogram = new Histogram({ ...configuration, registers: [reference] })
    const same = async () => assert.equal(await own.metrics(), await reference.metrics())

    await same()
    tallying('/never', 'GET')
    await same()
    const seen: Array<[labels: [string, string], values: number[]]> = [
      [
        ['/a', 'POST'],
        [0, 0.001, 0.0010001, 0.25, 0.5, 1, 119.99, 120, 120.01, 1e9],
      ],
      [
        ['/"quoted"\\\n', 'GET'],
        [0.1, 0.2, 0.3],
      ],
    ]
    for (const [labels, values] of seen) {
      const observed = tallying(...labels)
      for (const value of values) {
        observed.observe(value)
        histogram.labels(...labels).observe(value)
        await same()
      }
    }
    assert.match(await own.metrics(), /^waited_seconds_count\{route="\/a",method="POST"\} 10$/m)
  })
})
