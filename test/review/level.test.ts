import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { createGaze } from '../../src/gaze/gaze.ts'
import type { GazeTensor } from '../../src/gaze/tensor.ts'
import { hunksOf } from '../../src/review/hunks.ts'
import { openReceipt } from '../../src/review/receipt.ts'
import { DecideReview, NewReview } from '../../src/review/review-record.ts'
import { createReviews, type Reviews } from '../../src/review/reviews.ts'
import { openStore } from '../../src/store/open-store.ts'
import { editorStream, humanStream } from '../gaze/human-stream.ts'
import { numbered } from './repository.ts'

const TERMS = { minScore: 0.6, recordsNeeded: 20, minDurationMs: 5000, windowRecords: 1000, maxAgeSeconds: 900 }

/** Gaze records of a change of 10,000 lines, as they are sent. */
type Sent = Parameters<Reviews['addEvidence']>[1]

/** Reads changes again and again, at a clock of its own. */
async function startReading(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-level-'))
  const store = await openStore(`sqlite:${join(folder, 'store.db')}`)
  t.after(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })
  let clock = new Date()
  let readings = 0
  const now = () => clock
  const gaze = createGaze({ store, config: TERMS, now })
  const reviews = createReviews({ store, gaze, dataDir: () => folder, now })
  const side = { commit: 'a'.repeat(40), tree: 'b'.repeat(40) }
  const parts = hunksOf('a.ts', '', numbered(10_000))
  const change = NewReview.parse({ base: side, head: side, digest: 'c'.repeat(64), parts })

  /** Views of an editor with `height` lines, and beside them rests of eyes. Returns the review of the receipt. */
  return async function read(of: { height?: number; seed: number; pace?: number; eyes?: number }) {
    const { height = 3, seed, pace = 1, eyes = 0 } = of
    const { id } = await reviews.create(change, 'key_ann')
    const begin = clock.getTime()
    const views = sentFrom(slowed(editorStream(seed), pace), begin, 'ide', height)
    const rests = sentFrom(humanStream(++readings, { records: eyes }), begin, 'webcam', height)
    for (const record of [...views, ...rests]) {
      const ended = Date.parse(record.at) + (record.dwell_ms ?? 0)
      clock = new Date(Math.max(clock.getTime(), ended))
    }
    await reviews.addEvidence(id, [...views, ...rests], 'key_ann')
    const decision = DecideReview.parse({ reviewer: 'ann@example.org', decision: 'approve' })
    const { review } = openReceipt(await reviews.decide(id, decision, 'key_ann'), 'receipt')
    clock = new Date(clock.getTime() + 3_600_000)
    return review
  }
}

/** Takes more time for a stream, by a factor. */
function slowed(stream: readonly GazeTensor[], pace: number): GazeTensor[] {
  const first = Date.parse(stream[0]?.at ?? '')
  return stream.map((record) => ({
    ...record,
    at: new Date(first + pace * (Date.parse(record.at) - first)).toISOString(),
    dwell_ms: Math.round(pace * (record.dwell_ms ?? 0)),
  }))
}

/** Moves a stream to a time, onto lines of the change. */
function sentFrom(stream: readonly GazeTensor[], begin: number, source: GazeTensor['source'], height: number): Sent {
  const first = Date.parse(stream[0]?.at ?? '')
  return stream.map(({ at, dwell_ms, confidence, env: { x, y } }, index) => {
    const line_start = 1 + ((index * 487) % 9000)
    const env = { path: 'a.ts', line_start, line_end: line_start + height - 1, ...(x !== undefined && { x, y }) }
    return {
      at: new Date(begin + Date.parse(at) - first).toISOString(),
      dwell_ms,
      source,
      confidence,
      env,
    } as Sent[number]
  })
}

it('Records that look like a person’s make a review plausible only where a line was seen', async (t) => {
  const read = await startReading(t)
  const [near, far] = [await read({ height: 3, seed: 1 }), await read({ height: 400, seed: 2 })]
  assert.deepEqual([near.level, near.coverage.seen > 0], ['plausible', true])
  assert.deepEqual([far.level, far.coverage.seen > 0], ['seen', false])
})

it('A reading beside which eyes were followed for a short time stays plausible', async (t) => {
  const read = await startReading(t)
  for (const eyes of [10, 19]) {
    const { level, evidence } = await read({ seed: eyes, eyes })
    assert.deepEqual([level, evidence.reasons], ['plausible', []])
  }
})

it('Records of eyes beside a copied reading make it no more plausible', async (t) => {
  const read = await startReading(t)
  assert.equal((await read({ seed: 1 })).level, 'plausible')
  const copy = await read({ seed: 1, eyes: 60 })
  assert.deepEqual([copy.level, copy.evidence.novelty], ['seen', 0])
  assert.deepEqual(copy.evidence.reasons, ['the records were copied from another session'])
  const nearCopy = await read({ seed: 1, pace: 1.3, eyes: 60 })
  assert.equal(nearCopy.level, 'seen')
  assert.match(nearCopy.evidence.reasons.join(), /^the records are nearly those of another session of the same key/)
  assert.equal((await read({ seed: 2, eyes: 60 })).level, 'plausible')
})
