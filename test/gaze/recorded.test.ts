import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Assessment, assess } from '../../src/gaze/attestation.ts'
import { judgePlausibility } from '../../src/gaze/plausibility.ts'
import { endOf } from '../../src/gaze/scanpath.ts'
import type { GazeTensor } from '../../src/gaze/tensor.ts'
import { normal, randomOf } from './human-stream.ts'
import { RECORDED_START, recordedStream } from './recorded-stream.ts'
import { sampled } from './streams.ts'

const RULES = { minScore: 0.6, recordsNeeded: 20, minDurationMs: 5000 }
const RECORDED = recordedStream()
const SEEDS = Array.from({ length: 20 }, (_, i) => i + 1)

function assessNow(records: readonly GazeTensor[]): Assessment {
  const end = Math.max(...records.map(endOf))
  const assessed = records.map((record) => ({ ...record, copied: false }))
  return assess(assessed, records.length, RULES, new Date(end))
}

/** The recording with something of each record changed. */
function changed(change: (record: GazeTensor, i: number) => Partial<GazeTensor>): GazeTensor[] {
  return RECORDED.map((record, i) => ({ ...record, ...change(record, i) }))
}

const at = (ms: number) => new Date(RECORDED_START + Math.round(ms)).toISOString()

/** The score of one check of the recording, as `change` leaves it. */
function checkOf(name: string, records: readonly GazeTensor[]): number {
  const check = judgePlausibility(records).checks.find((found) => found.name === name)
  assert.ok(check, `${name} was not checked`)
  return check.score
}

describe('an attestation of a person who was recorded', () => {
  it('passes, and so does every stretch of 30 fixations in it', () => {
    assert.equal(RECORDED.length, 112)
    const whole = assessNow(RECORDED)
    assert.deepEqual([whole.status, whole.components.plausibility], ['passed', 1])
    for (let first = 0; first + 30 <= RECORDED.length; first += 5) {
      const { status, poa_score } = assessNow(RECORDED.slice(first, first + 30))
      assert.equal(status, 'passed', `${first}: ${poa_score}`)
    }
  })

  it('passes as the raw samples of trackers with a constant rate', () => {
    for (const hz of [60, 120, 250])
      for (const seed of [1, 2, 3]) {
        const { status, reasons } = assessNow(sampled(RECORDED, { hz, seed }))
        assert.equal(status, 'passed', `${hz} Hz: ${reasons}`)
      }
  })

  it('passes as a webcam sees it, 30 times a second and ten times as roughly', () => {
    const webcam = changed(() => ({ source: 'webcam', confidence: 0.7 }))
    const { status, reasons } = assessNow(sampled(webcam, { hz: 30, noise: 0.004 }))
    assert.equal(status, 'passed', `${reasons}`)
  })

  it('passes as the rests of a pointer, whose owner was slower', () => {
    const pointer = changed(({ dwell_ms, at: begun }) => ({
      source: 'pointer',
      dwell_ms: dwell_ms * 4,
      at: at((Date.parse(begun) - RECORDED_START) * 4),
    }))
    assert.equal(assessNow(pointer).status, 'passed')
  })
})

describe('an attestation of what only looks like the recording', () => {
  it('fails the same dwell throughout', () => {
    assert.equal(
      checkOf(
        'variation',
        changed(() => ({ dwell_ms: 200 })),
      ),
      0,
    )
    assert.equal(assessNow(changed(() => ({ dwell_ms: 200 }))).status, 'failed')
  })

  it('fails its dwells on a timer', () => {
    const timed = changed((_, i) => ({ at: at(i * 500) }))
    assert.equal(checkOf('rhythm', timed), 0)
    assert.equal(assessNow(timed).status, 'failed')
  })

  it('fails its dwells on random points', () => {
    for (const seed of SEEDS) {
      const random = randomOf(seed)
      const strewn = changed(() => ({ env: { x: random(), y: random() } }))
      assert.equal(checkOf('amplitude', strewn), 0)
      assert.equal(assessNow(strewn).status, 'failed')
    }
  })

  it('fails its dwells on one point, and in equal steps', () => {
    const staring = changed(() => ({ env: { x: 0.5, y: 0.5 } }))
    assert.equal(checkOf('rate', staring), 0)
    assert.equal(assessNow(staring).status, 'failed')
    const stepping = changed((_, i) => ({ env: { x: (i % 10) / 10, y: 0.5 } }))
    const even = changed((_, i) => ({ env: { x: 0.4 + 0.2 * (i % 2), y: 0.5 } }))
    assert.equal(checkOf('amplitude', even), 0)
    assert.equal(assessNow(even).status, 'failed')
    assert.ok(checkOf('amplitude', stepping) > 0, 'a sweep back to the left is what readers do')
  })

  it('fails raw samples that repeat one place without any noise', () => {
    const drawn = sampled(RECORDED, { noise: 0 })
    assert.equal(checkOf('jitter', drawn), 0)
    assert.equal(assessNow(drawn).status, 'failed')
    assert.equal(checkOf('jitter', sampled(RECORDED)), 1)
  })

  it('fails noise around one point, as a picture of eyes gives', () => {
    const random = randomOf(3)
    const staring = Array.from({ length: 900 }, (_, i) => ({
      ...(RECORDED[0] as GazeTensor),
      at: at((i * 1000) / 60),
      dwell_ms: 0,
      env: { x: 0.5 + 0.002 * normal(random), y: 0.5 + 0.002 * normal(random) },
    }))
    assert.equal(assessNow(staring).status, 'failed')
  })

  it('fails saccades that no eye can make so fast', () => {
    const hasty = changed((record, i) => ({ at: at(i * 82 + (i % 7) * 3), dwell_ms: 100 + (record.dwell_ms % 40) }))
    const apart = hasty.map((record, i) => ({ ...record, at: at(i * 105 + (i % 7) * 9), dwell_ms: 100 + (i % 5) }))
    assert.ok(checkOf('rate', apart) < 0.5, `${checkOf('rate', apart)}`)
    assert.equal(assessNow(apart).status, 'failed')
  })
})
