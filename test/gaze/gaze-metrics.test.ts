import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { computeMetrics, GazeMetrics } from '../../src/gaze/gaze-metrics.ts'
import { placeOf } from '../../src/gaze/scanpath.ts'
import type { GazeTensor } from '../../src/gaze/tensor.ts'
import { shuffled, tensors } from './arbitrary.ts'
import { humanStream } from './human-stream.ts'

function record(second: number, change: Partial<GazeTensor> = {}): GazeTensor {
  return {
    at: new Date(Date.UTC(2026, 10, 21, 7, 0, 0) + second * 1000).toISOString(),
    dwell_ms: 200,
    source: 'eye_tracker',
    confidence: 1,
    cog: { focus: 0.5, load: 0.5 },
    emo: { valence: 0, arousal: 0 },
    env: {},
    ...change,
  }
}

describe('gaze metrics', () => {
  it('are zeros and nulls without records', () => {
    const metrics = computeMetrics([])
    assert.equal(metrics.records, 0)
    assert.equal(metrics.duration_ms, 0)
    assert.deepEqual(metrics.fixations, { count: 0, mean_ms: null, median_ms: null })
    assert.deepEqual(metrics.focus, { mean: null, trend_per_min: null })
    assert.deepEqual(metrics.dwell_by_place, [])
    assert.equal(metrics.transitions.entropy_bits, 0)
  })

  it('merge the raw samples of one fixation and measure the jump to the next', () => {
    const samples = (from: number, x: number) =>
      Array.from({ length: 17 }, (_, i) => record(from + i / 50, { dwell_ms: 0, env: { x, y: 0.5 } }))
    const metrics = computeMetrics([...samples(0, 0.2), ...samples(0.4, 0.5)])
    // Seventeen samples, 20 ms each.
    assert.deepEqual(metrics.fixations, { count: 2, mean_ms: 340, median_ms: 340 })
    assert.deepEqual(metrics.saccades, { count: 1, mean_amplitude: 0.3 })
  })

  it('leave out what is too short for a fixation', () => {
    const metrics = computeMetrics([record(0, { dwell_ms: 99 }), record(1, { dwell_ms: 100 })])
    assert.equal(metrics.fixations.count, 1)
  })

  it('sum dwell and count visits by path, else url, else app', () => {
    const metrics = computeMetrics([
      record(0, { env: { path: 'a', app: 'editor' } }),
      record(1, { env: { path: 'a' } }),
      record(2, { env: { url: 'https://example.org/' } }),
      record(3, { env: { path: 'a' } }),
      record(4, { env: { app: 'terminal' } }),
      record(5),
    ])
    assert.deepEqual(metrics.dwell_by_place, [
      { path: 'a', dwell_ms: 600, share: 0.6, visits: 2 },
      { path: 'https://example.org/', dwell_ms: 200, share: 0.2, visits: 1 },
      { path: 'terminal', dwell_ms: 200, share: 0.2, visits: 1 },
    ])
    assert.equal(metrics.transitions.count, 3)
  })

  it('give a fixed route no entropy, and a fair choice of two places one bit where it is made', () => {
    const route = (places: string) => [...places].map((path, i) => record(i, { env: { path } }))
    assert.equal(computeMetrics(route('abcabcabc')).transitions.entropy_bits, 0)
    const fork = computeMetrics(route('abacabaca')).transitions
    assert.equal(fork.count, 8)
    assert.equal(fork.entropy_bits, 0.5)
    assert.deepEqual(fork.matrix_top[0], { from: 'a', to: 'b', count: 2, probability: 0.5 })
  })

  it('find the slope per minute by least squares', () => {
    const rising = [0, 60, 120, 180].map((second, i) => record(second, { cog: { focus: 0.2 + 0.1 * i, load: 0.7 } }))
    const { focus, load } = computeMetrics(rising)
    assert.deepEqual(focus, { mean: 0.35, trend_per_min: 0.1 })
    assert.deepEqual(load, { mean: 0.7, trend_per_min: 0 })
    assert.equal(computeMetrics(rising.slice(0, 1)).focus.trend_per_min, null)
  })

  it('weigh means by dwell', () => {
    const long = record(0, { dwell_ms: 900, cog: { focus: 1, load: 0 } })
    const short = record(1, { dwell_ms: 100, cog: { focus: 0, load: 0 } })
    assert.equal(computeMetrics([long, short]).focus.mean, 0.9)
  })

  it('keep sessions and sources apart: they are separate scanpaths', () => {
    const both = [0, 1, 2, 3].map((i) => ({
      ...record(i, { env: { path: i % 2 ? 'a' : 'b' } }),
      session_id: i % 2 ? 'one' : 'two',
    }))
    assert.equal(computeMetrics(both).transitions.count, 0)
  })

  it('count together the places that are not listed', () => {
    const many = Array.from({ length: 50 }, (_, i) => record(i, { env: { path: `${i}` } }))
    const { dwell_by_place, dwell_elsewhere } = computeMetrics(many)
    assert.equal(dwell_by_place.length, 20)
    assert.deepEqual(dwell_elsewhere, { places: 30, dwell_ms: 6000, share: 0.6, visits: 30 })
  })

  it('find in a synthetic person what it was drawn from', () => {
    const { fixations, saccades } = computeMetrics(humanStream(7, { records: 500 }))
    assert.ok(fixations.median_ms !== null && Math.abs(fixations.median_ms - 260) < 40, `${fixations.median_ms}`)
    assert.ok(saccades.mean_amplitude !== null && saccades.mean_amplitude > 0.08 && saccades.mean_amplitude < 0.2)
  })
})

describe('gaze metrics of any records', () => {
  it('fit their schema, with no number that is not one', () => {
    fc.assert(fc.property(tensors, (records) => void GazeMetrics.parse(computeMetrics(records))))
  })

  it('do not depend on the order of the records', () => {
    fc.assert(fc.property(shuffled, ([one, other]) => assert.deepEqual(computeMetrics(one), computeMetrics(other))))
  })

  it('have shares that sum to one, or to none', () => {
    fc.assert(
      fc.property(tensors, (records) => {
        const { dwell_by_place, dwell_elsewhere } = computeMetrics(records)
        const dwell = records.filter((r) => placeOf(r) !== null).reduce((sum, r) => sum + r.dwell_ms, 0)
        const shares = dwell_by_place.reduce((sum, place) => sum + place.share, dwell_elsewhere.share)
        assert.ok(Math.abs(shares - (dwell > 0 ? 1 : 0)) < 1e-4, `${shares}`)
      }),
    )
  })

  it('conserve dwell', () => {
    fc.assert(
      fc.property(tensors, (records) => {
        const { dwell_by_place, dwell_elsewhere } = computeMetrics(records)
        const expected = records.filter((r) => placeOf(r) !== null).reduce((sum, r) => sum + r.dwell_ms, 0)
        assert.equal(
          dwell_by_place.reduce((sum, place) => sum + place.dwell_ms, dwell_elsewhere.dwell_ms),
          expected,
        )
      }),
    )
  })

  it('are of the records that measured them, and null where none did', () => {
    const bare = { cog: undefined, emo: undefined, confidence: undefined }
    const none = computeMetrics([record(0, bare), record(60, bare)])
    const nothing = { mean: null, trend_per_min: null }
    assert.deepEqual(
      [none.focus, none.load, none.valence, none.arousal],
      [nothing, nothing, { mean: null }, { mean: null }],
    )
    const some = computeMetrics([
      record(0, { cog: { focus: 0.2 } }),
      record(30, bare),
      record(60, { cog: { focus: 0.8 } }),
    ])
    assert.deepEqual(some.focus, { mean: 0.5, trend_per_min: 0.6 })
    assert.deepEqual(some.load, nothing)
  })

  it('have an entropy between none and that of a walk at random', () => {
    fc.assert(
      fc.property(tensors, (records) => {
        const { transitions, dwell_by_place } = computeMetrics(records)
        const most = Math.log2(Math.max(1, dwell_by_place.length - 1))
        assert.ok(transitions.entropy_bits >= 0 && transitions.entropy_bits <= most + 1e-4)
      }),
    )
  })

  it('have means within the range of the values', () => {
    fc.assert(
      fc.property(tensors, (records) => {
        const { focus, valence } = computeMetrics(records)
        within(
          focus.mean,
          records.map((r) => r.cog?.focus),
        )
        within(
          valence.mean,
          records.map((r) => r.emo?.valence),
        )
      }),
    )
  })
})

function within(mean: number | null, measured: Array<number | undefined>): void {
  const values = measured.filter((value) => value !== undefined)
  if (values.length === 0) assert.equal(mean, null)
  else assert.ok(mean !== null && mean >= Math.min(...values) - 1e-4 && mean <= Math.max(...values) + 1e-4, `${mean}`)
}
