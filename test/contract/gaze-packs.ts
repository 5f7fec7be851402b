import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { verifyChain } from '../../src/gaze/fingerprint.ts'
import { createGaze } from '../../src/gaze/gaze.ts'
import { pruneGaze } from '../../src/gaze/prune.ts'
import { endOf } from '../../src/gaze/scanpath.ts'
import type { GazeTensor } from '../../src/gaze/tensor.ts'
import type { Store } from '../../src/store/store.ts'
import { bytesOfRecord } from '../gaze/bytes.ts'
import { humanStream } from '../gaze/human-stream.ts'
import { packsIn } from '../gaze/stored-packs.ts'

const CONFIG = { minScore: 0.6, recordsNeeded: 20, minDurationMs: 5000, windowRecords: 1000, maxAgeSeconds: 900 }

/** Tests of how gaze records are packed, for every engine. */
export function gazePacksContract(open: () => Promise<Store>): void {
  describe('packs of gaze records', () => {
    const now = () => new Date('2026-11-21T09:00:00.000Z')

    it('take less than 300 bytes a record, with all hashes and indexes', async () => {
      const store = await open()
      // The fewer records there are, the more pages are half empty: the bench stores more.
      const bytes = await bytesOfRecord(store, 12)
      assert.ok(bytes < 300, `${bytes} bytes a record`)
      await store.close()
    })

    it('are few and hold one chain, however small the batches are', async () => {
      const store = await open()
      const gaze = createGaze({ store, config: CONFIG, now })
      const records = humanStream(1, { records: 130 })
      for (const record of records) await gaze.store({ session_id: 's', records: [record] })
      const packs = await packsIn(store)
      assert.ok(packs.length <= 8, `${packs.length} packs`)
      const page = await gaze.retrieve({ session_id: 's', limit: 1000 })
      assert.deepEqual([page.items.length, page.total], [130, 130])
      assert.ok(verifyChain(page.items.toReversed()))
      await store.close()
    })

    it('give back what was sent: empty channels, whole and broken numbers, any path', async () => {
      const store = await open()
      const gaze = createGaze({ store, config: CONFIG, now })
      const at = (second: number) => new Date(Date.UTC(2026, 10, 21, 8, 0, second)).toISOString()
      const records: GazeTensor[] = [
        { at: at(0), dwell_ms: 0, source: 'eye_tracker', env: {} },
        { at: at(1), dwell_ms: 5, source: 'ide', confidence: 0, cog: {}, emo: {}, env: { path: 'a\nb/ü"\\.ts' } },
        { at: at(2), dwell_ms: 60_000, source: 'pointer', cog: { focus: 1 }, env: { x: 0.1 + 0.2, y: 1, app: 'x' } },
        { at: at(3), dwell_ms: 1, source: 'manual', emo: { valence: -1e-17 }, env: { url: 'https://example.org/' } },
      ]
      await gaze.store({ session_id: 's', records })
      const { items } = await gaze.retrieve({ limit: 10 })
      const sent = items.map(({ id: _, session_id: _s, task_id: _t, seq: _q, hash: _h, ...tensor }) => tensor)
      assert.deepEqual(sent.toReversed(), records)
      assert.ok(verifyChain(items.toReversed()))
      await store.close()
    })

    it('are read in a bounded number for a batch: a session of too many pieces takes no more of them', async () => {
      const store = await open()
      const gaze = createGaze({ store, config: CONFIG, now })
      // Records two hours apart are never in one pack.
      const piece = (ms: number) =>
        Array.from({ length: 300 }, (_, i): GazeTensor => {
          const at = new Date(Date.UTC(2026, 8, 1) + i * 7_200_000 + ms).toISOString()
          return { at, dwell_ms: 100, source: 'ide', env: {} }
        })
      const send = async (session_id: string, ms: number) =>
        (await gaze.store({ session_id, records: piece(ms) })).stored
      for (const ms of [0, 1, 2]) assert.equal(await send('s', ms), 300)
      assert.equal(await send('s', 2), 0, 'sent again')
      assert.equal(await send('s', 3), 300)
      await assert.rejects(send('s', 4), { code: 'conflict', message: /start another session/ })
      assert.equal(await send('another', 4), 300)
      await store.close()
    })

    it('go once their retention is over, a damaged one as well', async () => {
      const store = await open()
      const gaze = createGaze({ store, config: CONFIG, now })
      for (const seed of [1, 2]) await gaze.store({ session_id: `${seed}`, records: humanStream(seed) })
      const damaged = store.db.updateTable('gaze_packs').set({ body: Buffer.from('damaged') })
      await damaged.where('session_id', '=', '1').execute()
      await pruneGaze(store, '2026-12-01T00:00:00.000Z', 1000)
      assert.deepEqual(await store.db.selectFrom('gaze_packs').select('session_id').execute(), [])
      const sessions = await store.db.selectFrom('gaze_sessions').select(['records', 'pruned']).execute()
      assert.deepEqual(sessions, Array(2).fill({ records: 60, pruned: 60 }))
      await store.close()
    })

    it('list a record whose path has characters that a database cannot keep', async () => {
      const store = await open()
      const gaze = createGaze({ store, config: CONFIG, now })
      const paths = ['src/a\0b.ts', 'src/\ud800.ts', 'src/plain.ts']
      const records = paths.map((path, i): GazeTensor => {
        const at = new Date(Date.UTC(2026, 10, 21, 8, 0, i)).toISOString()
        return { at, dwell_ms: 200, source: 'ide', env: { path } }
      })
      await gaze.store({ session_id: 's', records })
      const { items, total } = await gaze.retrieve({ path: 'src', limit: 10 })
      assert.deepEqual([items.map(({ env }) => env.path), total], [paths.toReversed(), 3])
      assert.equal((await gaze.analyze({ session_id: 's' })).metrics.records, 3)
      await store.close()
    })

    it('are searched alike in any order of arrival, over sessions that overlap and days that lie apart', async () => {
      const store = await open()
      const gaze = createGaze({ store, config: CONFIG, now })
      const days = ['2026-11-03T07:00:00.000Z', '2026-11-21T07:00:00.000Z', '2026-11-12T07:00:00.000Z']
      const sent: GazeTensor[] = []
      for (const [i, start] of days.entries())
        for (const session_id of ['one', 'two']) {
          const records = humanStream(i + (session_id === 'one' ? 1 : 50), { records: 40, start })
          const odd = records.filter((_, j) => j % 2 === 1)
          await gaze.store({ session_id, records: odd })
          await gaze.store({ session_id, records })
          sent.push(...records)
        }
      const times = sent.map(({ at }) => at).sort()
      const newest = times.toReversed()
      const all = await gaze.retrieve({ limit: 1000 })
      assert.deepEqual(
        all.items.map(({ at }) => at),
        newest,
      )
      const offset = await gaze.retrieve({ limit: 7, offset: 95 })
      assert.deepEqual([offset.items.map(({ at }) => at), offset.total], [newest.slice(95, 102), 240])
      const [from, to] = [times[70] as string, times[150] as string]
      const between = await gaze.retrieve({ limit: 1000, from, to })
      const expected = newest.filter((at) => at >= from && at <= to)
      assert.deepEqual([between.items.map(({ at }) => at), between.total], [expected, expected.length])
      const path = 'src/b.ts'
      const onPath = sent.filter(({ env }) => env.path === path).map(({ at }) => at)
      const found = await gaze.retrieve({ limit: 1000, path })
      assert.deepEqual([found.items.map(({ at }) => at), found.total], [onPath.sort().reverse(), onPath.length])
      for (const session_id of ['one', 'two']) {
        const chain = (await gaze.retrieve({ session_id, limit: 1000 })).items.sort((a, b) => a.seq - b.seq)
        assert.ok(verifyChain(chain), session_id)
      }
      await store.close()
    })

    it('answer each page whole while small batches join them', async () => {
      const store = await open()
      const gaze = createGaze({ store, config: CONFIG, now })
      const records = humanStream(2, { records: 90 })
      await gaze.store({ session_id: 's', records: records.slice(0, 40) })
      const before = records.slice(0, 40).map(({ at }) => at)
      const adding = (async () => {
        for (const record of records.slice(40)) await gaze.store({ session_id: 's', records: [record] })
      })()
      for (let i = 0; i < 10; i++) {
        const to = new Date(endOf(records[39] as GazeTensor) - 1).toISOString()
        const page = await gaze.retrieve({ session_id: 's', limit: 1000, to })
        assert.deepEqual(page.items.map(({ at }) => at).reverse(), before)
      }
      await adding
      await store.close()
    })
  })
}
