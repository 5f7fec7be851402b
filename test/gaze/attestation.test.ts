import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type Assessed, type Assessment, assess } from '../../src/gaze/attestation.ts'
import { endOf } from '../../src/gaze/scanpath.ts'
import type { GazeTensor } from '../../src/gaze/tensor.ts'
import { shuffled } from './arbitrary.ts'
import { editorStream, humanStream, randomOf } from './human-stream.ts'
import { sampled } from './streams.ts'

const RULES = { minScore: 0.6, recordsNeeded: 20, minDurationMs: 5000 }
const SEEDS = Array.from({ length: 50 }, (_, i) => i + 1)
const START = Date.parse('2026-11-21T07:00:00.000Z')

function original(records: GazeTensor[]): Assessed[] {
  return records.map((record) => ({ ...record, copied: false }))
}

/** The assessment right after the last record. */
function assessNow(records: GazeTensor[]): Assessment {
  const end = Math.max(START, ...records.map(endOf))
  return assess(original(records), records.length, RULES, new Date(end))
}

function passes(make: (seed: number) => GazeTensor[]): number {
  return SEEDS.filter((seed) => assessNow(make(seed)).status === 'passed').length
}

/** The records one after the other at other times, and with other dwell or positions. */
function retimed(
  records: GazeTensor[],
  onset: (i: number) => number,
  change: (i: number) => Partial<GazeTensor> = () => ({}),
) {
  return records.map((record, i) => ({
    ...record,
    at: new Date(START + Math.round(onset(i))).toISOString(),
    ...change(i),
  }))
}

describe('an attestation', () => {
  it('passes streams like a person: fixations, raw samples, and dwells in an editor', () => {
    assert.equal(
      passes((seed) => humanStream(seed)),
      50,
    )
    assert.equal(
      passes((seed) => editorStream(seed)),
      50,
    )
    assert.ok(passes((seed) => sampled(humanStream(seed), { seed })) >= 49, 'raw samples of 50 people')
  })

  it('fails a constant stream made by hand', () => {
    const constant = (seed: number) =>
      retimed(
        humanStream(seed),
        (i) => i * 300,
        () => ({ dwell_ms: 250, env: { path: 'a.ts', x: 0.5, y: 0.5 } }),
      )
    assert.equal(passes(constant), 0)
    assert.equal(
      passes((seed) => constant(seed).map((record) => ({ ...record, source: 'ide', env: {} }))),
      0,
    )
  })

  it('fails a stream on a timer, however its dwells vary', () => {
    assert.equal(
      passes((seed) => retimed(humanStream(seed), (i) => i * 1000)),
      0,
    )
  })

  it('fails uniformly random dwells and positions', () => {
    const random = randomOf(1)
    const strewn = (seed: number) =>
      uniformStream(seed, 60).map((record) => ({ ...record, env: { x: random(), y: random() } }))
    assert.equal(passes(strewn), 0)
  })

  it('fails uniformly random dwells without positions, once there are enough of them to tell', () => {
    assert.equal(
      passes((seed) => uniformStream(seed, 200)),
      0,
    )
  })

  it('fails a short recording in a loop', () => {
    const loop = (seed: number) => {
      const once = humanStream(seed, { records: 12 })
      const length = Math.max(...once.map(endOf)) + 40 - START
      return [0, 1, 2, 3, 4].flatMap((round) =>
        once.map((record) => ({ ...record, at: new Date(Date.parse(record.at) + round * length).toISOString() })),
      )
    }
    assert.equal(passes(loop), 0)
  })

  it('fails what a person only says by hand, and eyes in two places at once', () => {
    assert.equal(
      passes((seed) => humanStream(seed).map((record) => ({ ...record, source: 'manual' }))),
      0,
    )
    assert.equal(
      passes((seed) => humanStream(seed).map((record) => ({ ...record, dwell_ms: record.dwell_ms * 3 }))),
      0,
    )
  })

  it('fails records of little confidence or in the future, and old ones in time', () => {
    const records = humanStream(1)
    assert.equal(
      passes((seed) => humanStream(seed).map((record) => ({ ...record, confidence: 0.02 }))),
      0,
    )
    const at = (time: number) => assess(original(records), records.length, RULES, new Date(time))
    assert.equal(at(START - 3_600_000).components.freshness, 0)
    assert.equal(at(START - 3_600_000).status, 'failed')
    const end = Math.max(...records.map(endOf))
    assert.equal(at(end).components.freshness, 1)
    assert.equal(at(end + 15 * 60_000).components.freshness, 0.5)
    assert.equal(at(end + 24 * 3_600_000).status, 'failed')
  })

  it('takes a record without confidence for neither sure nor unsure', () => {
    const unstated = humanStream(1).map(({ confidence: _, ...record }) => record)
    assert.equal(assessNow(unstated).components.confidence, 0.5)
    assert.equal(assessNow(unstated).status, 'passed')
  })

  it('counts long absences against continuity and coverage', () => {
    const records = humanStream(1)
    const later = records.map((record) => ({ ...record, at: new Date(Date.parse(record.at) + 600_000).toISOString() }))
    const { components } = assessNow([...records, ...later])
    assert.ok(components.continuity < 0.1, `${components.continuity}`)
    assert.ok(components.coverage < 0.2, `${components.coverage}`)
  })

  it('is collecting until there are enough records over enough time', () => {
    const few = assessNow(humanStream(1, { records: 19 }))
    assert.deepEqual([few.status, few.progress, few.records_needed], ['collecting', 0.95, 20])
    assert.match(few.reasons[0] ?? '', /^19 of the 20 records/)
    const quick = retimed(
      humanStream(1, { records: 20 }),
      (i) => i * 100,
      () => ({ dwell_ms: 90 }),
    )
    assert.equal(assessNow(quick).status, 'collecting')
    const empty = assessNow([])
    assert.deepEqual([empty.status, empty.level], ['collecting', 'none'])
    const { coverage, plausibility, novelty, reasons } = empty.evidence
    assert.deepEqual([coverage, plausibility, novelty], [null, null, null])
    assert.deepEqual(reasons.slice(0, 3), [
      'coverage is not measured: there are no records',
      'plausibility is not measured: no source has ten fixations or dwells',
      'novelty is not measured: there are too few records to compare',
    ])
    assert.equal(assessNow([]).poa_score, 0)
  })

  it('fails as a replay from five copied records that are a fifth of all', () => {
    const records = humanStream(1, { records: 20 })
    const end = new Date(Math.max(...records.map(endOf)))
    const copied = (n: number) =>
      assess(
        records.map((record, i) => ({ ...record, copied: i < n })),
        20,
        RULES,
        end,
      )
    assert.equal(copied(4).replayed, false)
    assert.equal(copied(5).replayed, true)
    assert.equal(copied(5).status, 'failed')
    assert.ok(copied(5).reasons.includes('the records were copied from another session'))
  })

  it('says why it failed', () => {
    const { reasons } = assessNow(
      retimed(
        humanStream(1),
        (i) => i * 300,
        () => ({ dwell_ms: 250 }),
      ),
    )
    assert.match(reasons.join('\n'), /plausibility is 0\nunlike a person in: .*variation/)
  })
})

describe('an attestation of any records', () => {
  it('has a score and components from 0 to 1, whatever the order of the records', () => {
    fc.assert(
      fc.property(shuffled, ([one, other]) => {
        const result = assessNow(one)
        for (const value of [result.poa_score, result.progress, ...Object.values(result.components)])
          assert.ok(value >= 0 && value <= 1, `${value}`)
        assert.deepEqual(assessNow(other), result)
      }),
    )
  })
})

/** Dwells from 100 to 600 ms and pauses of up to 100 ms, all equally likely, without positions. */
function uniformStream(seed: number, records: number): GazeTensor[] {
  const random = randomOf(seed)
  let time = START
  return humanStream(seed, { records }).map((record) => {
    const at = new Date(time).toISOString()
    const dwell_ms = Math.round(100 + 500 * random())
    time += dwell_ms + Math.round(100 * random())
    return { ...record, at, dwell_ms, env: { path: 'a.ts' } }
  })
}
