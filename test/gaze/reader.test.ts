import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Assessment, assess } from '../../src/gaze/attestation.ts'
import { judgePlausibility } from '../../src/gaze/plausibility.ts'
import { endOf } from '../../src/gaze/scanpath.ts'
import type { GazeTensor } from '../../src/gaze/tensor.ts'
import { normal, randomOf } from './human-stream.ts'
import { fixationsOf, pageOf, readingOf, samplesOf } from './reader.ts'
import { sampled } from './streams.ts'

const RULES = { minScore: 0.6, recordsNeeded: 20, minDurationMs: 5000 }
const READ = fixationsOf(readingOf(pageOf(1), 1))
const READ_START = Date.parse('2026-11-21T07:00:00.000Z')
const SEEDS = Array.from({ length: 20 }, (_, i) => i + 1)

function assessNow(records: readonly GazeTensor[]): Assessment {
  const end = Math.max(...records.map(endOf))
  const assessed = records.map((record) => ({ ...record, copied: false }))
  return assess(assessed, records.length, RULES, new Date(end))
}

/** The reading with something of each record changed. */
function changed(change: (record: GazeTensor, i: number) => Partial<GazeTensor>): GazeTensor[] {
  return READ.map((record, i) => ({ ...record, ...change(record, i) }))
}

const at = (ms: number) => new Date(READ_START + Math.round(ms)).toISOString()

/** Its dwells on a timer, none longer than the time to the next. */
function timed(everyMs: number): GazeTensor[] {
  return changed(({ dwell_ms }, i) => ({ at: at(i * everyMs), dwell_ms: Math.min(dwell_ms, everyMs - 30) }))
}

/** The score of one check of the reading, as `change` leaves it. */
function checkOf(name: string, records: readonly GazeTensor[]): number {
  const check = judgePlausibility(records).checks.find((found) => found.name === name)
  assert.ok(check, `${name} was not checked`)
  return check.score
}

/** Counts how many of twenty readings from `make` pass. */
function passing(make: (seed: number) => GazeTensor[]): number {
  return SEEDS.filter((seed) => assessNow(make(seed)).status === 'passed').length
}

describe('an attestation of a reader', () => {
  it('passes as fixations, and so do nearly all stretches of 30 of them', () => {
    const whole = assessNow(READ)
    assert.deepEqual([whole.status, whole.components.plausibility], ['passed', 1])
    const stretches = SEEDS.flatMap((seed) => {
      const read = fixationsOf(readingOf(pageOf(seed % 4), seed))
      return Array.from({ length: Math.floor(read.length / 30) }, (_, i) => read.slice(30 * i, 30 * i + 30))
    })
    const passed = stretches.filter((stretch) => assessNow(stretch).status === 'passed').length
    assert.ok(passed >= 0.9 * stretches.length, `${passed} of ${stretches.length}`)
  })

  it('passes as the raw samples of trackers from 4 Hz on', () => {
    for (const hz of [4, 5, 8, 10, 15, 25, 30, 60]) {
      const passed = passing((seed) => samplesOf(readingOf(pageOf(seed % 4), seed), { hz, seed }))
      // Twenty dwells tell little about their distribution: one reader in forty looks unlike one.
      assert.ok(passed >= 19, `${passed} of 20 at ${hz} Hz`)
    }
  })

  it('passes as a webcam sees it, 30 times a second and ten times as roughly', () => {
    const webcam = samplesOf(readingOf(pageOf(1), 1), { hz: 30, noise: 0.2 }).map((sample) => ({
      ...sample,
      source: 'webcam' as const,
      confidence: 0.7,
    }))
    const { status, reasons } = assessNow(webcam)
    assert.equal(status, 'passed', `${reasons}`)
  })

  it('passes as the rests of a pointer, whose owner was slower', () => {
    const pointer = changed(({ dwell_ms, at: begun }) => ({
      source: 'pointer',
      dwell_ms: dwell_ms * 4,
      at: at((Date.parse(begun) - READ_START) * 4),
    }))
    assert.equal(assessNow(pointer).status, 'passed')
  })
})

describe('an attestation of what only looks like the reading', () => {
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
    assert.equal(checkOf('rhythm', timed(500)), 0)
    assert.equal(assessNow(timed(500)).status, 'failed')
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
    const drawn = sampled(READ, { noise: 0 })
    assert.equal(checkOf('jitter', drawn), 0)
    assert.equal(assessNow(drawn).status, 'failed')
    assert.equal(checkOf('jitter', sampled(READ)), 1)
  })

  it('fails noise around one point, as a picture of eyes gives', () => {
    const random = randomOf(3)
    const staring = Array.from({ length: 900 }, (_, i) => ({
      ...(READ[0] as GazeTensor),
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

  it('fails raw samples of a slow tracker on random points, in equal steps, on one point, on a timer and in a loop', () => {
    const random = randomOf(9)
    for (const hz of [4, 10, 15]) {
      const slow = samplesOf(readingOf(pageOf(1), 1), { hz })
      const moved = (env: (i: number, sample: GazeTensor) => Partial<GazeTensor['env']>) =>
        slow.map((sample, i) => ({ ...sample, env: { ...sample.env, ...env(i, sample) } }))
      const loop = moved((i) => slow[i % (4 * hz)]?.env ?? {})
      const fakes = {
        strewn: moved(() => ({ x: random(), y: random() })),
        even: moved((i) => ({ x: 0.4 + 0.2 * (i % 2) + 0.001 * random(), y: 0.5 })),
        staring: moved(() => ({ x: 0.5 + 0.002 * normal(random), y: 0.5 + 0.002 * normal(random) })),
        timed: sampled(timed(400), { hz }),
        loop,
      }
      for (const [name, fake] of Object.entries(fakes))
        assert.equal(assessNow(fake).status, 'failed', `${name} at ${hz} Hz`)
    }
  })
})
