import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { createGaze } from '../../src/gaze/gaze.ts'
import { hunksOf } from '../../src/review/hunks.ts'
import { openReceipt } from '../../src/review/receipt.ts'
import { DecideReview, NewReview } from '../../src/review/review-record.ts'
import { createReviews } from '../../src/review/reviews.ts'
import { openStore } from '../../src/store/open-store.ts'
import { editorStream } from '../gaze/human-stream.ts'
import { numbered } from './repository.ts'

const TERMS = { minScore: 0.6, recordsNeeded: 20, minDurationMs: 5000, windowRecords: 1000, maxAgeSeconds: 900 }

it('Records that look like a person’s make a review plausible only where a line was seen', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-level-'))
  const store = await openStore(`sqlite:${join(folder, 'store.db')}`)
  t.after(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })
  let clock = new Date()
  const now = () => clock
  const gaze = createGaze({ store, config: TERMS, now })
  const reviews = createReviews({ store, gaze, dataDir: () => folder, now })
  const side = { commit: 'a'.repeat(40), tree: 'b'.repeat(40) }
  const parts = hunksOf('a.ts', '', numbered(10_000))
  const change = NewReview.parse({ base: side, head: side, digest: 'c'.repeat(64), parts })

  /** Level of a review whose views have `height` lines. */
  async function levelAt(height: number, seed: number): Promise<[level: string, seen: boolean]> {
    const { id } = await reviews.create(change, 'key_ann')
    const begin = clock.getTime()
    const stream = editorStream(seed)
    const first = Date.parse(stream[0]?.at as string)
    for (const [index, { at, dwell_ms }] of stream.entries()) {
      const began = begin + Date.parse(at) - first
      clock = new Date(began + (dwell_ms as number))
      const line_start = 1 + ((index * 487) % 9000)
      const env = { path: 'a.ts', line_start, line_end: line_start + height - 1 }
      const record = { at: new Date(began).toISOString(), dwell_ms: dwell_ms as number, source: 'ide' as const, env }
      await reviews.addEvidence(id, [record], 'key_ann')
    }
    const decision = DecideReview.parse({ reviewer: 'ann@example.org', decision: 'approve' })
    const { review } = openReceipt(await reviews.decide(id, decision, 'key_ann'), 'receipt')
    return [review.level, review.coverage.seen > 0]
  }
  assert.deepEqual(await levelAt(3, 1), ['plausible', true])
  assert.deepEqual(await levelAt(400, 2), ['seen', false])
})
