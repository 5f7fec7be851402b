import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createGaze, type Gaze } from '../../src/gaze/gaze.ts'
import { NEAR_COPY } from '../../src/gaze/near-copies.ts'
import { endOf } from '../../src/gaze/scanpath.ts'
import type { GazeTensor } from '../../src/gaze/tensor.ts'
import { likeness, sketchOf } from '../../src/gaze/trace-sketch.ts'
import type { Store } from '../../src/store/store.ts'
import { openEmptyStore } from '../store/empty-store.ts'
import { editorStream, humanStream } from './human-stream.ts'
import { COPIES } from './near-copies.ts'
import { fixationsOf, pageOf, readingOf, samplesOf } from './reader.ts'

const TERMS = { minScore: 0.6, recordsNeeded: 20, minDurationMs: 5000, windowRecords: 1000, maxAgeSeconds: 900 }
const page = pageOf(1)

/** Streams of one person: what a reader model, a random walk and an editor give. */
const STREAMS: Record<string, (seed: number) => GazeTensor[]> = {
  fixations: (seed) => fixationsOf(readingOf(page, seed, { seconds: 20 })),
  'raw samples': (seed) => samplesOf(readingOf(page, seed, { seconds: 20 }), { hz: 30, seed }),
  'a random walk': (seed) => humanStream(seed),
  'dwells without a position': (seed) => editorStream(seed),
}

describe('the likeness of two streams', () => {
  for (const [name, make] of Object.entries(STREAMS))
    it(`tells copies of ${name} from ${name} of the same person`, () => {
      const sketches = Array.from({ length: 30 }, (_, seed) => sketchOf(make(seed + 1)) as string)
      const [own = '', ...others] = sketches
      for (const [copy, of] of Object.entries(COPIES)) {
        const like = likeness(own, sketchOf(of(make(1), 5)) as string)
        assert.ok(like >= NEAR_COPY, `${copy}: ${like}`)
      }
      assert.deepEqual(
        others.filter((other) => likeness(own, other) >= NEAR_COPY),
        [],
      )
    })

  it('is nothing for streams in which nothing moves', () => {
    const still = humanStream(1).map((record) => ({ ...record, env: { x: 0.5, y: 0.5 } }))
    assert.equal(sketchOf(still), null)
    assert.equal(sketchOf([]), null)
  })
})

describe('a near copy', () => {
  let folder: string
  let store: Store
  let gaze: Gaze
  let clock = new Date()
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gazeway-near-'))
    store = await openEmptyStore(join(folder, 'store.db'))
    gaze = createGaze({ store, config: TERMS, now: () => clock })
  })
  after(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })

  const attest = async (records: GazeTensor[], key: string) => {
    clock = new Date(Math.max(...records.map(endOf)))
    return (await gaze.store({ records }, key)).attestation
  }

  it('fails for the key that stored the original, with the reason; a new stream passes', async () => {
    const original = STREAMS.fixations?.(1) ?? []
    const copy = COPIES.mirrored?.(original, 1) ?? []
    assert.equal((await attest(original, 'key_a')).status, 'passed')
    const { status, replayed, reasons, level, evidence } = await attest(copy, 'key_a')
    assert.deepEqual([status, replayed, level], ['failed', false, 'seen'])
    assert.ok((evidence.novelty ?? 1) <= 1 - NEAR_COPY, `novelty ${evidence.novelty}`)
    assert.match(reasons[0] ?? '', /^the records are nearly those of another session of the same key \(likeness /)
    const fresh = await attest(STREAMS.fixations?.(2) ?? [], 'key_a')
    assert.deepEqual([fresh.status, fresh.level], ['passed', 'plausible'])
    assert.ok((fresh.evidence.novelty ?? 0) > 1 - NEAR_COPY, `novelty ${fresh.evidence.novelty}`)
    const another = COPIES['upside down']?.(original, 1) ?? []
    assert.equal((await attest(another, 'key_b')).status, 'passed', 'streams of another key are not compared')
  })
})
