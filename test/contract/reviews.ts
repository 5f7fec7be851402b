import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { createGaze, type Gaze } from '../../src/gaze/gaze.ts'
import type { GazeTensor } from '../../src/gaze/tensor.ts'
import { modeItem } from '../../src/review/acknowledged-items.ts'
import { appOf } from '../../src/review/gestures.ts'
import { hunksOf } from '../../src/review/hunks.ts'
import { openReceipt } from '../../src/review/receipt.ts'
import { reviewSweeps } from '../../src/review/retention.ts'
import { DecideReview, NewReview } from '../../src/review/review-record.ts'
import { createReviews, type Reviews } from '../../src/review/reviews.ts'
import type { Store } from '../../src/store/store.ts'
import type { Sweep } from '../../src/store/sweeps.ts'
import { humanStream } from '../gaze/human-stream.ts'
import { numbered } from '../review/repository.ts'

const CONFIG = { minScore: 0.6, recordsNeeded: 20, minDurationMs: 5000, windowRecords: 1000, maxAgeSeconds: 900 }
const SIDE = { commit: 'a'.repeat(40), tree: 'b'.repeat(40) }
const ANN = 'key_ann'

const parts = [
  ...hunksOf('src/a.ts', '', numbered(4)),
  // Bytes that a database may have no place for.
  ...hunksOf('src/b.ts', 'caf\u00c3\u00a9\u00ff\r\n', 'caf\u00c3\u00a9\u0001\r\n'),
]
const change = NewReview.parse({ base: SIDE, head: SIDE, digest: 'c'.repeat(64), parts })

const decision = (more: object = {}) =>
  DecideReview.parse({ reviewer: 'ann@example.org', decision: 'approve', ...more })

/** Tests of reviews, for every engine. `open` opens an empty store. */
export function reviewsContract(open: () => Promise<Store>): void {
  describe('reviews', () => {
    let store: Store
    let gaze: Gaze
    let reviews: Reviews
    let clock: Date
    let dataDir: string

    beforeEach(async () => {
      store = await open()
      clock = new Date('2026-11-21T07:00:00.000Z')
      dataDir = mkdtempSync(join(tmpdir(), 'gazeway-reviews-'))
      gaze = createGaze({ store, config: CONFIG, now: () => clock })
      reviews = createReviews({ store, gaze, dataDir: () => dataDir, now: () => clock })
    })

    afterEach(async () => {
      await store.close()
      rmSync(dataDir, { recursive: true })
    })

    /** Lines in view for this many ms, ending now. */
    const view = (path: string, line_start: number, line_end: number, dwell_ms: number) => ({
      at: new Date(clock.getTime() - dwell_ms).toISOString(),
      dwell_ms,
      source: 'ide' as const,
      env: { path, line_start, line_end },
    })
    const wait = (ms: number) => {
      clock = new Date(clock.getTime() + ms)
    }

    /** SYNTHETIC gaze of a person from now on, at lines of a file. */
    const gazeAt = (path: string, seed: number, lines: [number, number] = [1, 4]) =>
      humanStream(seed, { start: clock.toISOString(), paths: [path] }).map((record) => ({
        ...record,
        env: { ...record.env, line_start: lines[0], line_end: lines[1] },
      }))

    it('keeps the lines of a change, and tells how far they were read', async () => {
      const { id } = await reviews.create(change, ANN)
      wait(2000)
      await reviews.addEvidence(id, [view('src/a.ts', 1, 4, 1000)], ANN)
      wait(1000)
      const { parts: read, active_ms } = await reviews.addEvidence(id, [view('src/b.ts', 1, 1, 400)], ANN)
      assert.deepEqual(
        read.map(({ path, seen, lines, exposed }) => [path, seen, lines, exposed]),
        [
          ['src/a.ts', 4, 4, 4],
          ['src/b.ts', 0, 2, 2],
        ],
      )
      assert.equal(active_ms, 1400)
      assert.deepEqual((await reviews.get(id)).parts, parts)
    })

    it('credits no more time than passed here, whatever the records claim', async () => {
      const { id } = await reviews.create(change, ANN)
      wait(100)
      const { active_ms, parts: read } = await reviews.addEvidence(id, [view('src/a.ts', 1, 4, 60_000)], ANN)
      assert.deepEqual([active_ms, read[0]?.seen], [100, 0])
    })

    it('ends with a receipt of what was read, whose level is seen for what any script could send', async () => {
      const { id } = await reviews.create(change, ANN)
      wait(1000)
      await reviews.addEvidence(id, [view('src/a.ts', 1, 4, 1000)], ANN)
      const { review } = openReceipt(await reviews.decide(id, decision(), ANN), 'receipt')
      const { coverage, level, times, chain_head, evidence } = review
      assert.deepEqual([coverage.lines, coverage.seen, level, times.active_ms], [6, 4, 'seen', 1000])
      assert.deepEqual(coverage.by_file, [
        { path: 'src/a.ts', lines: 4, seen: 4 },
        { path: 'src/b.ts', lines: 2, seen: 0 },
      ])
      assert.match(chain_head ?? '', /^[0-9a-f]{64}$/)
      assert.equal(evidence.coverage, 4 / 6)
    })

    it('has the level none without evidence, and plausible once lines were read with gaze like a person’s', async () => {
      const decided = async (id: string) =>
        openReceipt(await reviews.decide(id, decision(), ANN), 'receipt').review.level
      const gaze = (seed: number) => gazeAt('src/a.ts', seed)
      const [without, unread, read] = [
        await reviews.create(change, ANN),
        await reviews.create(change, ANN),
        await reviews.create(change, ANN),
      ]
      assert.equal(await decided(without.id), 'none')
      const [first, second] = [gaze(3), gaze(4)]
      wait(60_000)
      await reviews.addEvidence(unread.id, [...gazeAt('src/a.ts', 3, [1, 400]), ...first.slice(0, 1)], ANN)
      assert.equal(await decided(unread.id), 'seen')
      await reviews.addEvidence(read.id, second, ANN)
      wait(2000)
      await reviews.addEvidence(read.id, [view('src/a.ts', 1, 4, 1000)], ANN)
      assert.equal(await decided(read.id), 'plausible')
    })

    it('judges followed eyes by themselves, not by the views of the page beside them', async () => {
      const { id } = await reviews.create(change, ANN)
      const began = clock.getTime()
      const eyes = gazeAt('src/a.ts', 17)
      wait(60_000)
      const views = Array.from({ length: 150 }, (_, at) => ({
        ...view('src/a.ts', 1, 4, 400),
        at: new Date(began + 400 * at).toISOString(),
      }))
      const { level } = await reviews.addEvidence(id, views, ANN)
      assert.equal(level, 'seen', 'the views alone are a timer’s')
      assert.equal((await reviews.addEvidence(id, eyes.slice(0, 9), ANN)).level, 'seen')
      assert.equal((await reviews.addEvidence(id, eyes.slice(9), ANN)).level, 'plausible')
    })

    it('is not plausible for an item that was acknowledged, while no line of a hunk was seen', async () => {
      const item = modeItem({ path: 'run.sh', old: { mode: '100644', oid: 'a' }, new: { mode: '100755', oid: 'a' } })
      const { id } = await reviews.create(NewReview.parse({ ...change, parts: [...parts, item] }), ANN)
      const alone = await reviews.create(NewReview.parse({ ...change, parts: [item] }), ANN)
      const [ofHunk, ofItem, elsewhere] = [gazeAt('src/a.ts', 5, [1, 400]), gazeAt('run.sh', 6), gazeAt('other.ts', 7)]
      const without = await reviews.create(NewReview.parse({ ...change, parts: [item] }), ANN)
      wait(60_000)
      const levelOf = async (review: string, records: typeof ofHunk) => {
        await reviews.addEvidence(review, records, ANN)
        const receipt = await reviews.decide(review, decision({ acknowledged: [item.digest] }), ANN)
        return openReceipt(receipt, 'receipt').review.level
      }
      assert.equal(await levelOf(id, ofHunk), 'seen')
      assert.equal(await levelOf(alone.id, ofItem), 'plausible')
      assert.equal(await levelOf(without.id, elsewhere), 'seen')
    })

    it('is not plausible by gaze at something else in its session, nor by what is dated before it', async () => {
      const read = async (records: () => GazeTensor[]) => {
        const { id } = await reviews.create(change, ANN)
        const sent = records()
        wait(60_000)
        for (const batch of [sent, [view('src/a.ts', 1, 4, 2000)]]) await reviews.addEvidence(id, batch, ANN)
        return openReceipt(await reviews.decide(id, decision(), ANN), 'receipt').review
      }
      const other = await read(() => gazeAt('other.ts', 11))
      assert.deepEqual([other.level, other.coverage.seen], ['seen', 4])
      assert.ok(other.evidence.reasons.includes('60 gaze records are about no line of the change'))
      assert.equal((await read(() => gazeAt('src/a.ts', 12, [20, 30]))).level, 'seen', 'far from its lines')
      const unplaced = await read(() =>
        gazeAt('src/a.ts', 13).map(({ env: { x, y }, ...record }) => ({ ...record, env: { x, y } })),
      )
      assert.equal(unplaced.level, 'seen', 'at no file')
      const early = await read(() =>
        gazeAt('src/a.ts', 14).map((record) => ({
          ...record,
          at: new Date(Date.parse(record.at) - 120_000).toISOString(),
        })),
      )
      assert.equal(early.level, 'seen', 'before it')
      assert.equal((await read(() => gazeAt('src/a.ts', 15))).level, 'plausible')
    })

    it('refuses a copy of the gaze of another review as plausible, whatever gaze at something else is put beside it', async () => {
      const levels: string[] = []
      for (const [index, beside] of [[], gazeAt('other.ts', 22)].entries()) {
        const { id } = await reviews.create(change, ANN)
        const [copied, other] = [
          gazeAt('src/a.ts', 21),
          beside.map((record, at) => ({ ...record, at: gazeAt('src/a.ts', 22)[at]?.at as string })),
        ]
        // One value of each record is another, so that it is no replay.
        const sent = copied.map((record) => ({ ...record, dwell_ms: record.dwell_ms + 3 * index }))
        wait(60_000)
        await reviews.addEvidence(
          id,
          [...sent, ...other.map((record) => ({ ...record, source: 'webcam' as const }))],
          ANN,
        )
        await reviews.addEvidence(id, [view('src/a.ts', 1, 4, 2000)], ANN)
        levels.push(openReceipt(await reviews.decide(id, decision(), ANN), 'receipt').review.level)
      }
      assert.deepEqual(levels, ['plausible', 'seen'])
    })

    it('counts acts on lines, which raise no level, however like a person’s they are', async () => {
      const { id } = await reviews.create(change, ANN)
      const person = gazeAt('src/a.ts', 31)
      wait(60_000)
      const acts = person.map((record) => ({
        ...record,
        source: 'pointer' as const,
        env: { ...record.env, app: appOf('pointer') },
      }))
      const comment = {
        ...view('src/a.ts', 1, 1, 0),
        source: 'manual' as const,
        env: { path: 'src/a.ts', app: appOf('comment') },
      }
      const { parts: read, active_ms, level } = await reviews.addEvidence(id, [...acts, comment], ANN)
      const pointer = acts.reduce((sum, { dwell_ms }) => sum + dwell_ms, 0)
      assert.ok(pointer > 5000)
      assert.deepEqual(
        read.map(({ seen_ms, pointer_ms, selections, comments }) => [seen_ms, pointer_ms, selections, comments]),
        [
          [0, pointer, 0, 1],
          [0, 0, 0, 0],
        ],
      )
      assert.deepEqual([active_ms, level], [0, 'none'])
      wait(2000)
      await reviews.addEvidence(id, [view('src/a.ts', 1, 4, 2000)], ANN)
      const { review } = openReceipt(await reviews.decide(id, decision(), ANN), 'receipt')
      assert.deepEqual([review.level, review.coverage.seen], ['seen', 4])
      assert.doesNotMatch(review.evidence.reasons.join(), /about no line of the change/)
    })

    it('gives the median pace of the key’s other reviews, once there are three', async () => {
      const readFor = async (ms: number, caller = ANN) => {
        const { id } = await reviews.create(change, caller)
        wait(ms)
        if (ms > 0) await reviews.addEvidence(id, [view('src/a.ts', 1, 4, ms)], caller)
        await reviews.decide(id, decision(), caller)
        return id
      }
      const first = await readFor(600)
      await readFor(60_000, 'key_bob')
      await readFor(0)
      await readFor(6000)
      const { id } = await reviews.create(change, ANN)
      assert.equal((await reviews.get(id)).usual_ms_per_line, null)
      await readFor(1200)
      wait(300)
      const { ms_per_line } = await reviews.addEvidence(id, [view('src/a.ts', 1, 4, 300)], ANN)
      assert.deepEqual([ms_per_line, (await reviews.get(id)).usual_ms_per_line], [50, 200])
      assert.equal((await reviews.get(first)).usual_ms_per_line, null, 'itself is none of them')
    })

    it('takes no evidence of another key, by any way, and that key keeps nobody from it', async () => {
      const { id, session_id } = await reviews.create(change, ANN)
      wait(2000)
      const foreign = gaze.store({ session_id, records: [view('src/a.ts', 1, 4, 2000)] }, 'key_admin')
      await assert.rejects(foreign, { code: 'conflict', param: 'session_id' })
      const { active_ms } = await reviews.addEvidence(id, [view('src/b.ts', 1, 1, 400)], ANN)
      assert.equal(active_ms, 400)
      assert.deepEqual(
        (await reviews.get(id)).reading.parts.map(({ seen }) => seen),
        [0, 0],
      )
    })

    it('asks attention checks where they are wanted, without their answers, and none by default', async () => {
      assert.deepEqual((await reviews.create(change, ANN)).checks, [])
      const asked = { ...change, checks: ['question', 'retype'] }
      const lines = hunksOf('c.ts', '', 'a line to type\n')
      const { id, checks } = await reviews.create(NewReview.parse({ ...asked, parts: [...parts, ...lines] }), ANN)
      assert.deepEqual(checks, [{ kind: 'retype', path: 'c.ts', line: 1 }])
      assert.deepEqual((await reviews.get(id)).checks, checks)
      const { review } = openReceipt(
        await reviews.decide(id, decision({ answers: ['a line to type'] }), ANN),
        'receipt',
      )
      assert.deepEqual([review.checks, review.level], [['retype'], 'none'])
    })

    it('shows a canary beside its parts, of which no receipt counts a line, and states one that was not marked', async () => {
      const asked = NewReview.parse({ ...change, checks: ['canary'] })
      const receiptOf = async (isMarked: boolean) => {
        const { id, checks } = await reviews.create(asked, ANN)
        const [canary] = checks
        assert.ok(canary?.kind === 'canary')
        const { path, digest, rows } = canary.hunk
        wait(9000)
        const { new: first } = rows[0] ?? {}
        const views = [view(path, first as number, (first as number) + rows.length - 1, 8000)]
        const reading = await reviews.addEvidence(id, views, ANN)
        assert.deepEqual([reading.canary?.seen, reading.parts.length], [canary.hunk.lines, parts.length])
        assert.deepEqual((await reviews.get(id)).parts, parts)
        return openReceipt(await reviews.decide(id, decision({ answers: [isMarked ? digest : ''] }), ANN), 'receipt')
      }
      for (const isMarked of [true, false]) {
        const { review, subjects } = await receiptOf(isMarked)
        const { coverage, checks, evidence, level } = review
        assert.deepEqual(checks, isMarked ? ['canary'] : [])
        assert.equal(/canary hunk.* not marked/.test(evidence.reasons.join()), !isMarked)
        assert.deepEqual([coverage.lines, coverage.seen, level], [6, 0, 'seen'])
        assert.deepEqual(
          coverage.hunks.map(({ digest }) => digest),
          parts.map(({ digest }) => digest),
        )
        assert.equal(subjects.sha256, change.digest)
      }
    })

    it('states in the receipt when not all of its records were counted', async () => {
      const mostRecords = 2
      const bounded = createReviews({ store, gaze, dataDir: () => dataDir, now: () => clock, mostRecords })
      const reasonsWith = async (records: number) => {
        const made = await bounded.create(change, ANN)
        wait(1000 * records)
        const views = Array.from({ length: records }, (_, index) => {
          return { ...view('src/a.ts', 1, 4, 1000), at: new Date(clock.getTime() - 1000 * (index + 1)).toISOString() }
        })
        const { active_ms } = await bounded.addEvidence(made.id, views, ANN)
        assert.equal(active_ms, 1000 * Math.min(records, mostRecords))
        return openReceipt(await bounded.decide(made.id, decision(), ANN), 'receipt').review.evidence.reasons.join()
      }
      assert.doesNotMatch(await reasonsWith(2), /were counted/)
      assert.match(await reasonsWith(3), /only the first 2 gaze records were counted/)
    })

    it('is decided once, and takes no evidence afterwards', async () => {
      const { id } = await reviews.create(change, ANN)
      const ends = await Promise.allSettled([1, 2, 3].map(() => reviews.decide(id, decision(), ANN)))
      assert.equal(ends.filter(({ status }) => status === 'fulfilled').length, 1)
      const late = { code: 'invalid_transition' }
      await assert.rejects(reviews.addEvidence(id, [view('src/a.ts', 1, 4, 1)], ANN), late)
      await assert.rejects(reviews.decide(id, decision(), ANN), late)
    })

    it('goes once its retention is over, oldest first, and finds nothing left afterwards', async () => {
      const days = { value: null as number | null }
      const [sweep] = reviewSweeps(
        store,
        () => clock,
        () => days.value,
      ) as [Sweep]
      await reviews.create(change, ANN)
      const second = await reviews.create(change, ANN)
      wait(86_400_000)
      const recent = await reviews.create(change, ANN)
      wait(1)
      assert.equal(await sweep.batch(10), 0, 'kept forever by default')
      days.value = 1
      assert.equal(await sweep.batch(1), 1)
      assert.deepEqual(
        (await reviews.list({ limit: 5 })).items.map(({ id }) => id),
        [recent.id, second.id],
      )
      assert.deepEqual([await sweep.batch(10), await sweep.batch(10)], [1, 0])
    })

    it('is one key’s, and lists reviews newest first', async () => {
      const [first, second] = [await reviews.create(change, ANN), await reviews.create(change, ANN)]
      await reviews.create(change, 'key_bob')
      await assert.rejects(reviews.get(first.id, 'key_bob'), { code: 'not_found' })
      await assert.rejects(reviews.addEvidence(first.id, [view('src/a.ts', 1, 4, 1)], 'key_bob'), { code: 'not_found' })
      const page = await reviews.list({ limit: 1 }, ANN)
      assert.deepEqual([page.total, page.items.map(({ id }) => id)], [2, [second.id]])
      const next = await reviews.list({ limit: 1, cursor: page.next_cursor as string }, ANN)
      assert.deepEqual([next.next_cursor, next.items.map(({ id }) => id)], [null, [first.id]])
    })
  })
}
