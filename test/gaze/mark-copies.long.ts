import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import fc from 'fast-check'
import type { Attestation } from '../../src/gaze/attestation.ts'
import { createGaze, type Gaze } from '../../src/gaze/gaze.ts'
import { endOf } from '../../src/gaze/scanpath.ts'
import type { GazeTensor } from '../../src/gaze/tensor.ts'
import type { Store } from '../../src/store/store.ts'
import { openEmptyStore } from '../store/empty-store.ts'
import { editorStream, normal, randomOf } from './human-stream.ts'
import { fixationsOf, pageOf, readingOf, samplesOf } from './reader.ts'
import { packsIn } from './stored-packs.ts'
import { shifted } from './streams.ts'

const TERMS = { minScore: 0.6, recordsNeeded: 20, minDurationMs: 5000, windowRecords: 1000, maxAgeSeconds: 900 }
const PAGE = pageOf(1)
const seconds = 12
/** Drawn the same each time: where noise is at its limit, about one copy of a few hundred short ones is missed. */
const RUNS = { seed: 24 }
const seed = fc.integer({ min: 1, max: 1_000_000 })
const laterMs = fc.integer({ min: -1_000_000, max: 10_000_000 })

describe('copies of what was looked at', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-copies-'))
  let opened = 0
  let store: Store
  let gaze: Gaze
  let clock = new Date()

  /** Runs with an empty store: who was stored in an earlier run is no original of this one. */
  async function inEmptyStore(run: () => Promise<void>): Promise<void> {
    store = await openEmptyStore(join(folder, `${opened++}.db`))
    gaze = createGaze({ store, config: TERMS, now: () => clock })
    await run().finally(() => store.close())
  }
  after(() => rmSync(folder, { recursive: true }))

  /** The attestation of a new session with these records, sent as they come. */
  async function attest(records: readonly GazeTensor[], batch = 1000): Promise<Attestation> {
    clock = new Date(Math.max(...records.map(endOf)))
    let session: { session_id?: string; attestation?: Attestation } = {}
    for (let i = 0; i < records.length; i += batch) {
      const { session_id } = session
      session = await gaze.store({ ...(session_id && { session_id }), records: records.slice(i, i + batch) })
    }
    assert.ok(session.attestation)
    return session.attestation
  }

  /** Fails unless the copy is told as one, and the original was not. */
  async function tellsApart(original: readonly GazeTensor[], copy: readonly GazeTensor[], batch?: number) {
    await inEmptyStore(async () => {
      assert.equal((await attest(original)).replayed, false, 'the original')
      const { replayed, status } = await attest(copy, batch)
      assert.deepEqual([replayed, status], [true, 'failed'], 'the copy')
    })
  }

  it('tells raw samples of which each was changed by 0.00001, at any rate and time', async () => {
    await fc.assert(
      fc.asyncProperty(seed, laterMs, fc.constantFrom(15, 30, 60, 120, 250), async (reader, later, hz) => {
        const original = samplesOf(readingOf(PAGE, reader, { seconds }), { hz, seed: reader })
        const changed = original.map((sample) => ({ ...sample, env: { ...sample.env, x: nudged(sample.env.x) } }))
        await tellsApart(original, shifted(changed, later))
      }),
      { ...RUNS, numRuns: 6 },
    )
  })

  it('tells raw samples with noise on every time and place', async () => {
    await fc.assert(
      fc.asyncProperty(
        seed,
        laterMs,
        fc.constantFrom(60, 120),
        fc.double({ min: 0.0001, max: 0.004, noNaN: true }),
        async (reader, later, hz, noise) => {
          const original = samplesOf(readingOf(PAGE, reader, { seconds }), { hz, seed: reader })
          await tellsApart(original, jittered(shifted(original, later), noise, reader + 1))
        },
      ),
      { ...RUNS, numRuns: 6 },
    )
  })

  it('tells raw samples of 250 Hz that are thinned out to as few as 25', async () => {
    await fc.assert(
      fc.asyncProperty(seed, laterMs, fc.integer({ min: 2, max: 10 }), async (reader, later, every) => {
        const original = samplesOf(readingOf(PAGE, reader, { seconds }), { hz: 250, seed: reader })
        const thinned = shifted(original, later).filter((_, i) => i % every === 0)
        await tellsApart(original, thinned)
      }),
      { ...RUNS, numRuns: 6 },
    )
  })

  it('tells them whatever the order and size of the batches that they arrive in', async () => {
    const original = samplesOf(readingOf(PAGE, 77, { seconds }), { hz: 60 })
    const copy = shifted(jittered(original, 0.001, 3), 60_000)
    const interleaved = [...copy.filter((_, i) => i % 2 === 1), ...copy.filter((_, i) => i % 2 === 0)]
    await tellsApart(original, interleaved, 60)
    for (const batch of [13, 300]) await tellsApart(original, copy, batch)
  })

  it('tells fixations and dwells without a position of which each was changed a little', async () => {
    await fc.assert(
      fc.asyncProperty(seed, laterMs, async (reader, later) => {
        const read = fixationsOf(readingOf(PAGE, reader, { seconds: 20 }))
        await tellsApart(read, jittered(shifted(read, later), 0.002, reader))
        const edited = editorStream(reader)
        const nudge = (cog: GazeTensor['cog']) => ({ ...cog, focus: nudged(cog?.focus ?? 0) })
        const changed = edited.map((record) => ({ ...record, cog: nudge(record.cog) }))
        await tellsApart(edited, jittered(shifted(changed, later), 0, reader))
      }),
      { ...RUNS, numRuns: 6 },
    )
  })

  it('never takes readers of one page, at any rate, for copies of each other', async () => {
    await inEmptyStore(async () => {
      for (let reader = 1; reader <= 40; reader++) {
        const reading = readingOf(PAGE, reader, { seconds: 20 })
        const hz = [4, 10, 30, 60, 120][reader % 5] ?? 60
        const records = reader % 6 === 0 ? fixationsOf(reading) : samplesOf(reading, { hz, seed: reader })
        assert.equal((await attest(records)).replayed, false, `reader ${reader}`)
      }
      const packs = await packsIn(store)
      assert.deepEqual(
        packs.flatMap(({ records }) => records.filter(({ isCopied }) => isCopied)),
        [],
      )
    })
  })
})

function nudged(share: number | undefined): number {
  const value = share ?? 0
  return value > 0.5 ? value - 0.00001 : value + 0.00001
}

/** Noise on every position, 1 ms on every time, and 1% on every dwell. */
function jittered(records: readonly GazeTensor[], noise: number, of: number): GazeTensor[] {
  const random = randomOf(of)
  const moved = (share: number) => Math.min(1, Math.max(0, share + noise * normal(random)))
  return records.map(({ env: { x, y, ...env }, ...record }) => ({
    ...record,
    at: new Date(Date.parse(record.at) + Math.round(normal(random))).toISOString(),
    dwell_ms: Math.max(0, Math.round(record.dwell_ms * (1 + 0.01 * normal(random)))),
    env: x === undefined || y === undefined ? env : { ...env, x: moved(x), y: moved(y) },
  }))
}
