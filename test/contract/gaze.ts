import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { latestAttention } from '../../src/agent/latest-attention.ts'
import type { GazeLevel } from '../../src/config/sections/gaze-section.ts'
import { Attestation } from '../../src/gaze/attestation.ts'
import type { Evidence } from '../../src/gaze/evidence.ts'
import { verifyChain } from '../../src/gaze/fingerprint.ts'
import { createGaze, type Gaze } from '../../src/gaze/gaze.ts'
import { pruneGaze } from '../../src/gaze/prune.ts'
import { GazeRecord, type GazeTensor } from '../../src/gaze/tensor.ts'
import type { Store } from '../../src/store/store.ts'
import { humanStream } from '../gaze/human-stream.ts'
import { fixationsOf, pageOf, readingOf, samplesOf } from '../gaze/reader.ts'
import { forgePacks } from '../gaze/stored-packs.ts'
import { blurred, shifted } from '../gaze/streams.ts'
import { insertTask } from '../gaze/task-row.ts'
import { sentAfter } from './gaze-trackers.ts'

const CONFIG = { minScore: 0.6, recordsNeeded: 20, minDurationMs: 5000, windowRecords: 1000, maxAgeSeconds: 900 }

/** Tests of the gaze service, for every engine. `open` opens an empty store. */
export function gazeContract(open: () => Promise<Store>): void {
  describe('gaze', () => {
    let store: Store
    let gaze: Gaze
    let clock: Date

    beforeEach(async () => {
      store = await open()
      clock = new Date('2026-11-21T07:05:00.000Z')
      gaze = createGaze({ store, config: CONFIG, now: () => clock })
      for (const id of ['task_0', 'task_1']) await insertTask(store, id)
    })

    afterEach(() => store.close())

    it('stores records in a new session, and gives them back newest first', async () => {
      const records = humanStream(1)
      const { session_id, stored, duplicates } = await gaze.store({ records })
      assert.match(session_id, /^ses_[0-9a-f]{32}$/)
      assert.deepEqual([stored, duplicates], [60, 0])
      const page = await gaze.retrieve({ session_id, limit: 100 })
      assert.equal(page.total, 60)
      assert.equal(page.next_cursor, null)
      assert.deepEqual(
        page.items.map((item) => item.at),
        records.map((record) => record.at).reverse(),
      )
      const { id, session_id: _, task_id, seq, hash, ...tensor } = GazeRecord.parse(page.items[59])
      assert.deepEqual(tensor, records[0])
      assert.match(id, /^gaze_/)
      assert.equal(task_id, null)
      assert.equal(seq, 1)
      assert.match(hash, /^[0-9a-f]{64}$/)
    })

    it('stores the same session, time and source once, in one batch and in two', async () => {
      const records = humanStream(1, { records: 30 })
      const first = await gaze.store({ session_id: 's', records: [...records, ...records.slice(0, 5)] })
      assert.deepEqual([first.stored, first.duplicates], [30, 5])
      const second = await gaze.store({ session_id: 's', records })
      assert.deepEqual([second.stored, second.duplicates], [0, 30])
      const other = await gaze.store({
        session_id: 's',
        records: records.map((record) => ({ ...record, source: 'webcam' })),
      })
      assert.deepEqual([other.stored, other.attestation.records], [30, 60])
      assert.equal((await gaze.retrieve({ limit: 1 })).total, 60)
    })

    it('lists sessions, the one that was added to last first, with their newest attestation', async () => {
      for (const [i, session_id] of ['one', 'two', 'three'].entries()) {
        clock = new Date(clock.getTime() + 1000)
        await gaze.store(
          { session_id, task_id: `task_${i % 2}`, records: humanStream(i, { records: 30 }) },
          `key_${i % 2}`,
        )
      }
      clock = new Date(clock.getTime() + 1000)
      const { attestation } = await gaze.store({ session_id: 'one', records: humanStream(9, { records: 5 }) }, 'key_0')
      const all = await gaze.sessions({ limit: 2 })
      assert.deepEqual([all.items.map((item) => item.session_id), all.total], [['one', 'three'], 3])
      const { id, status, poa_score, issued_at, expires_at } = attestation
      assert.deepEqual(all.items[0], {
        session_id: 'one',
        task_id: 'task_0',
        caller_id: 'key_0',
        records: 34,
        created_at: '2026-11-21T07:05:01.000Z',
        updated_at: '2026-11-21T07:05:04.000Z',
        attestation: { id, status, poa_score, issued_at, expires_at },
      })
      const rest = await gaze.sessions({ limit: 2, cursor: all.next_cursor ?? '' })
      assert.deepEqual([rest.items.map((item) => item.session_id), rest.next_cursor], [['two'], null])
      const own = await gaze.sessions({ limit: 9, task_id: 'task_0' }, 'key_0')
      assert.deepEqual([own.items.map((item) => item.session_id), own.total], [['one', 'three'], 2])
      assert.equal((await gaze.sessions({ limit: 9, task_id: 'task_0' }, 'key_1')).total, 0)
    })

    it('analyses for a caller only what that caller stored', async () => {
      await gaze.store({ session_id: 'mine', records: humanStream(1, { records: 30 }) }, 'key_mine')
      await gaze.store({ session_id: 'theirs', records: humanStream(2, { records: 20 }) }, 'key_theirs')
      const records = async (callerId?: string) => (await gaze.analyze({}, callerId)).metrics.records
      assert.deepEqual([await records(), await records('key_mine'), await records('key_none')], [50, 30, 0])
      await assert.rejects(gaze.analyze({ session_id: 'theirs' }, 'key_mine'), { code: 'not_found' })
    })

    it('chains the hashes of a session, and the chain shows any change', async () => {
      const records = humanStream(1, { records: 40 })
      await gaze.store({ session_id: 's', records: records.slice(0, 25).reverse() })
      const { attestation } = await gaze.store({ session_id: 's', records: records.slice(25) })
      const chain = (await gaze.retrieve({ session_id: 's', limit: 100 })).items.sort((a, b) => a.seq - b.seq)
      assert.ok(verifyChain(chain))
      assert.equal(attestation.chain_head, chain.at(-1)?.hash)
      assert.ok(!verifyChain(chain.toSpliced(7, 1)))
      assert.ok(!verifyChain(chain.map((record) => (record.seq === 9 ? { ...record, dwell_ms: 1 } : record))))
    })

    it('keeps one chain when batches of a session arrive at once', async () => {
      const records = humanStream(1, { records: 200 })
      const batches = [0, 1, 2, 3].map((i) => records.filter((_, j) => j % 4 === i))
      await Promise.all(batches.map((batch) => gaze.store({ session_id: 's', records: batch })))
      const chain = (await gaze.retrieve({ session_id: 's', limit: 1000 })).items.sort((a, b) => a.seq - b.seq)
      assert.equal(chain.length, 200)
      assert.ok(verifyChain(chain))
    })

    it('pages by cursor without loss or repetition while records arrive', async () => {
      const records = humanStream(1, { records: 95 })
      await gaze.store({ session_id: 's', records: records.slice(0, 90) })
      const seen: string[] = []
      let cursor: string | undefined
      do {
        const page = await gaze.retrieve({ session_id: 's', limit: 20, ...(cursor === undefined ? {} : { cursor }) })
        seen.push(...page.items.map((item) => item.at))
        cursor = page.next_cursor ?? undefined
        if (seen.length === 20) await gaze.store({ session_id: 's', records: records.slice(90) })
      } while (cursor !== undefined)
      assert.deepEqual(
        seen,
        records
          .slice(0, 90)
          .map((record) => record.at)
          .reverse(),
      )
      const offset = await gaze.retrieve({ session_id: 's', limit: 5, offset: 5 })
      assert.equal(offset.items[0]?.at, seen[0])
    })

    it('refuses a cursor that is not one', async () => {
      await assert.rejects(gaze.retrieve({ limit: 5, cursor: 'bm9uc2Vuc2U' }), {
        code: 'invalid_cursor',
        param: 'cursor',
      })
    })

    it('finds records by time, source, file and folder', async () => {
      const at = (second: number, path: string, source: GazeTensor['source'] = 'ide'): GazeTensor => ({
        ...(humanStream(1, { records: 1 })[0] as GazeTensor),
        at: new Date(Date.UTC(2026, 10, 21, 7, 0, second)).toISOString(),
        source,
        env: { path },
      })
      await gaze.store({
        records: [at(1, 'src/a.ts'), at(2, 'src/a/b.ts'), at(3, 'src/ab.ts'), at(4, 'src/a/c.ts', 'pointer')],
      })
      const found = async (query: object) => {
        const page = await gaze.retrieve({ limit: 50, ...query })
        assert.equal(page.total, page.items.length)
        return page.items.map((item) => item.env.path)
      }
      assert.deepEqual(await found({ path: 'src/a' }), ['src/a/c.ts', 'src/a/b.ts'])
      assert.deepEqual(await found({ path: 'src/a/' }), ['src/a/c.ts', 'src/a/b.ts'])
      assert.deepEqual(await found({ path: 'src/ab.ts' }), ['src/ab.ts'])
      assert.deepEqual(await found({ path: 'src/%' }), [])
      assert.deepEqual(await found({ source: 'pointer' }), ['src/a/c.ts'])
      await gaze.store({ records: [at(5, 'C:\\p\\a\\b.ts'), at(6, 'C:\\p\\ab.ts'), at(7, 'C:\\p\\a]\\b.ts')] })
      for (const path of ['C:\\p\\a', 'C:\\p\\a\\']) assert.deepEqual(await found({ path }), ['C:\\p\\a\\b.ts'])
      assert.equal((await found({ path: 'C:\\' })).length, 3)
      const between = { from: '2026-11-21T07:00:02.000Z', to: '2026-11-21T07:00:03.000Z' }
      assert.deepEqual(await found(between), ['src/ab.ts', 'src/a/b.ts'])
      assert.deepEqual(await found({ session_id: 'unknown' }), [])
    })

    it('attests a person, binds the attestation to its task, and answers with it while it is valid', async () => {
      const records = humanStream(4)
      clock = sentAfter(records)
      const { session_id, attestation } = await gaze.store({ task_id: 'task_1', records })
      assert.deepEqual(Attestation.parse(attestation), attestation)
      assert.deepEqual([attestation.status, attestation.task_id, attestation.reasons], ['passed', 'task_1', []])
      const { evidence, level, components } = attestation
      assert.deepEqual(evidence, {
        coverage: components.coverage,
        plausibility: components.plausibility,
        novelty: 1,
        liveness: null,
        provenance: null,
        reasons: [
          'liveness is not measured: no challenge was answered',
          'provenance is not measured: no enrolled device signed the records',
        ],
      })
      assert.equal(level, 'plausible')
      assert.equal(Date.parse(attestation.expires_at) - Date.parse(attestation.issued_at), 900_000)
      assert.deepEqual(await gaze.attestation(session_id), attestation)
      clock = new Date(clock.getTime() + 24 * 3_600_000)
      const stale = await gaze.attestation(session_id)
      assert.notEqual(stale.id, attestation.id)
      assert.equal(stale.status, 'failed')
      assert.deepEqual(await gaze.attestation(session_id), stale)
    })

    it('refuses records for a task that the session is not bound to, and stores none of them', async () => {
      const [first, second] = humanStream(1, { records: 2 })
      assert.ok(first && second)
      const { session_id } = await gaze.store({ records: [first] })
      await assert.rejects(gaze.store({ session_id, task_id: 'task_1', records: [second] }), {
        code: 'conflict',
        param: 'task_id',
      })
      assert.equal((await gaze.retrieve({ limit: 1 })).total, 1)
    })

    it('sees records that were copied from another session, as they are and moved in time', async () => {
      const records = humanStream(4)
      clock = sentAfter(records)
      const moved = records.map((record) => ({ ...record, at: new Date(Date.parse(record.at) + 5000).toISOString() }))
      const original = await gaze.store({ session_id: 'original', records })
      const copy = await gaze.store({ session_id: 'copy', records })
      clock = sentAfter(moved)
      const shifted = await gaze.store({ session_id: 'shifted', records: moved })
      for (const { attestation } of [copy, shifted])
        assert.deepEqual(
          [attestation.status, attestation.replayed, attestation.level, attestation.evidence.novelty],
          ['failed', true, 'none', 0],
        )
      assert.equal(original.attestation.status, 'passed')
      const again = await gaze.store({ session_id: 'original', records })
      assert.equal(again.attestation.replayed, false, 'the one who was copied is not blamed')
    })

    it('sees a moved copy that is sent in small batches and mixed with own records', async () => {
      const records = humanStream(4, { records: 40 })
      await gaze.store({ session_id: 'original', records })
      const moved = records.map((record) => ({ ...record, at: new Date(Date.parse(record.at) + 5000).toISOString() }))
      const own = humanStream(9, { records: 60, start: '2026-11-21T07:01:00.000Z' })
      clock = sentAfter(own)
      for (let i = 0; i < 40; i += 10) await gaze.store({ session_id: 'mixed', records: moved.slice(i, i + 10) })
      const { attestation } = await gaze.store({ session_id: 'mixed', records: own })
      assert.equal(attestation.replayed, true)
    })

    it('sees a copy that was moved in time and blurred, of a reader and of drawn streams', async () => {
      for (const [i, records] of [
        fixationsOf(readingOf(pageOf(1), 1)),
        ...[1, 2, 3].map((seed) => humanStream(seed)),
      ].entries()) {
        const copy = blurred(records, 3_600_000, i + 1)
        await gaze.store({ session_id: `original ${i}`, records })
        clock = sentAfter(copy)
        const { attestation } = await gaze.store({ session_id: `copy ${i}`, records: copy })
        assert.deepEqual([attestation.status, attestation.replayed], ['failed', true], `stream ${i}`)
      }
    })

    it('assesses a thousand records at most, whatever a session holds', async () => {
      const samples = samplesOf(readingOf(pageOf(1), 1, { seconds: 40 }), { hz: 60 })
      for (let from = 0; from < samples.length; from += 1000)
        await gaze.store({ session_id: 's', records: samples.slice(from, from + 1000) })
      const late = samples.slice(-CONFIG.windowRecords)
      clock = sentAfter(late)
      const { session_id } = await gaze.store({ records: shifted(late, 1) })
      const figures = async (id: string) => {
        await store.db.deleteFrom('attestations').execute()
        const { components } = await gaze.attestation(id)
        return components
      }
      // The same records, one millisecond apart: what came before them counts for nothing.
      const { freshness: _, ...whole } = await figures('s')
      const { freshness: __, ...alone } = await figures(session_id)
      assert.deepEqual(whole, alone)
    })

    it('does not take what one person looks at later for a copy of what it saw before', async () => {
      const records = fixationsOf(readingOf(pageOf(1), 1))
      await gaze.store({ session_id: 'first half', records: records.slice(0, 56) })
      const { attestation } = await gaze.store({ session_id: 'second half', records: records.slice(56) })
      assert.equal(attestation.replayed, false)
    })

    it('keeps the sessions of a key to that key', async () => {
      const records = humanStream(4, { records: 40 })
      clock = sentAfter(records)
      const mine = await gaze.store({ session_id: 'mine', task_id: 'task_1', records: records.slice(0, 30) }, 'key_a')
      await gaze.store({ session_id: 'local', records: humanStream(5, { records: 10 }) })
      await assert.rejects(gaze.store({ session_id: 'mine', records: records.slice(30) }, 'key_b'), {
        code: 'conflict',
        param: 'session_id',
      })
      await assert.rejects(gaze.store({ session_id: 'local', records: records.slice(30) }, 'key_b'), {
        code: 'conflict',
      })
      const totals = async (callerId?: string) => {
        const page = await gaze.retrieve({ limit: 1000 }, callerId)
        assert.equal(page.items.length, page.total)
        return page.total
      }
      assert.deepEqual([await totals('key_a'), await totals('key_b'), await totals()], [30, 0, 40])
      assert.equal((await gaze.retrieve({ limit: 5, session_id: 'mine' }, 'key_b')).total, 0)
      assert.equal((await gaze.retrieve({ limit: 5, source: 'eye_tracker' }, 'key_b')).total, 0)
      assert.deepEqual(await gaze.findAttestation({ task_id: 'task_1' }, 'key_a'), mine.attestation)
      assert.deepEqual(await gaze.findAttestation({ session_id: 'mine', task_id: 'task_1' }), mine.attestation)
      for (const query of [{ session_id: 'mine' }, { task_id: 'task_1' }])
        await assert.rejects(gaze.findAttestation(query, 'key_b'), { code: 'not_found' })
      await assert.rejects(gaze.findAttestation({ session_id: 'mine', task_id: 'task_2' }), { code: 'not_found' })
      await gaze.store({ session_id: 'mine', records: records.slice(30) })
      assert.deepEqual([await totals('key_a'), await totals('key_b')], [40, 0], 'a tool on this machine may add to it')
    })

    it('does not take two people who read the same file for copies of each other', async () => {
      for (let seed = 1; seed <= 10; seed++) {
        const { attestation } = await gaze.store({ records: humanStream(seed, { paths: ['src/a.ts'] }) })
        assert.equal(attestation.replayed, false)
      }
    })

    it('analyses a session the same way every time', async () => {
      await gaze.store({ session_id: 's', records: humanStream(1) })
      await gaze.store({ session_id: 't', records: humanStream(2) })
      const analysis = await gaze.analyze({ session_id: 's' })
      assert.equal(analysis.metrics.records, 60)
      assert.equal(analysis.truncated, false)
      assert.match(analysis.tensor, /^COG:0\.\d\d\/EMO:0\.\d\d\/ENV:0\.\d\d$/)
      assert.deepEqual(await gaze.analyze({ session_id: 's' }), analysis)
      assert.equal((await gaze.analyze({})).metrics.records, 120)
      assert.deepEqual(
        (await gaze.analyze({ from: '2027-01-01T00:00:00.000Z' })).findings.map((f) => f.kind),
        ['no_data'],
      )
    })

    it('says so when a session is unknown', async () => {
      await assert.rejects(gaze.attestation('nobody'), { code: 'not_found', param: 'session_id' })
      await assert.rejects(gaze.analyze({ session_id: 'nobody' }), { code: 'not_found', param: 'session_id' })
    })

    it('sums attention by place for a project, the latest seen first', async () => {
      const [base] = humanStream(1, { records: 1 })
      assert.ok(base)
      const look = (minute: number, path: string, line?: number): GazeTensor => ({
        ...base,
        at: new Date(Date.UTC(2026, 10, 21, 6, minute)).toISOString(),
        dwell_ms: 1000,
        env: line === undefined ? { path } : { path, line_start: line, line_end: line + 9 },
      })
      const project = [look(1, '/p/a.ts', 5), look(2, '/p/a.ts', 5), look(3, 'b.ts'), look(70, '/p/a.ts', 5)]
      await gaze.store({ records: [...project, look(4, '/px/c.ts'), look(5, '/q/d.ts'), look(6, 'C:\\e.ts')] })
      const since = '2026-11-21T06:00:00.000Z'
      assert.deepEqual(await gaze.dwell({ root: '/p/', since, limit: 10 }), [
        {
          path: '/p/a.ts',
          line_start: 1,
          line_end: 20,
          dwell_ms: 3000,
          last_seen_at: '2026-11-21T07:10:01.000Z',
          visits: 2,
        },
        {
          path: 'b.ts',
          line_start: null,
          line_end: null,
          dwell_ms: 1000,
          last_seen_at: '2026-11-21T06:03:01.000Z',
          visits: 1,
        },
      ])
      const [later] = await gaze.dwell({ root: '/p', since: '2026-11-21T07:30:00.000Z', limit: 10 })
      assert.equal(later?.dwell_ms, 1000)
      assert.equal((await gaze.dwell({ root: '/p', since, limit: 1 })).length, 1)
    })

    it('sums attention on relative paths for their project alone, and keeps the records as they were sent', async () => {
      const records = humanStream(1, { records: 60, paths: ['src/a.ts', '../q/b.ts', '/r/c.ts', 'C:\\d.ts'] })
      await gaze.store({ session_id: 's', records: records.slice(0, 40), root: '/p' })
      const { stored, duplicates } = await gaze.store({ session_id: 's', records, root: '/p' })
      assert.deepEqual([stored, duplicates], [20, 40])
      const paths = async (root: string) => {
        const places = await gaze.dwell({ root, since: '2026-11-21T00:00:00.000Z', limit: 100 })
        return [...new Set(places.map(({ path }) => path))]
      }
      assert.deepEqual(await paths('/p'), ['/p/src/a.ts'])
      assert.deepEqual(await paths('/q'), ['/q/b.ts'])
      assert.deepEqual(await paths('/r'), ['/r/c.ts'])
      assert.deepEqual(await paths('/elsewhere'), [])
      const kept = (await gaze.retrieve({ session_id: 's', limit: 100 })).items.reverse()
      assert.deepEqual(
        kept.map(({ env }) => env),
        records.map(({ env }) => env),
      )
      assert.ok(verifyChain(kept))
      const copy = await gaze.store({ session_id: 'copy', records, root: '/elsewhere' })
      assert.equal(copy.attestation.replayed, true)
    })

    it('sums attention for regions of a file, so that ranges that hardly differ are one', async () => {
      const [base] = humanStream(1, { records: 1 })
      assert.ok(base)
      const ranges = [
        [1, 1],
        [3, 9],
        [10, 10],
        [11, 15],
        [12, 18],
        [5, 24],
        [101, 160],
        [110, 150],
        [1, 400],
      ] as const
      const records = ranges.map(([line_start, line_end], i) => ({
        ...base,
        at: new Date(Date.UTC(2026, 10, 21, 6, i)).toISOString(),
        env: { path: 'a.ts', line_start, line_end },
      }))
      await gaze.store({ records })
      const places = await gaze.dwell({ root: '/p', since: '2026-11-21T06:00:00.000Z', limit: 10 })
      assert.deepEqual(places.map(({ line_start, line_end, visits }) => [line_start, line_end, visits]).reverse(), [
        [1, 10, 1],
        [11, 20, 1],
        [1, 30, 1],
        [101, 160, 1],
        [1, 480, 1],
      ])
      const many = humanStream(2, { records: 1000, paths: ['long.ts'] })
      await gaze.store({ records: many })
      const read = await gaze.dwell({ root: '/p', since: '2026-11-21T00:00:00.000Z', limit: 1000 })
      assert.ok(read.length <= 50, `${read.length} rows for 1,000 fixations on 200 lines`)
    })

    it('keeps the sums of attention in step with the records, over sessions and batches', async () => {
      const streams = [1, 2, 3].map((seed) => humanStream(seed, { records: 300 }))
      await Promise.all(
        streams.flatMap((records, i) => [
          gaze.store({ session_id: `s${i}`, records: records.slice(0, 200) }),
          gaze.store({ session_id: `s${i}`, records: records.slice(100) }),
        ]),
      )
      const dwell = streams.flat().reduce((sum, record) => sum + record.dwell_ms, 0)
      const places = await gaze.dwell({ root: '/p', since: '2026-11-21T00:00:00.000Z', limit: 10_000 })
      assert.equal(
        places.reduce((sum, place) => sum + place.dwell_ms, 0),
        dwell,
      )
    })

    it('ignores records dated hours or years in the future', async () => {
      const here = humanStream(5, { paths: ['here.ts'] })
      const ahead = humanStream(6, { paths: ['ahead.ts'], start: '2076-11-21T07:00:00.000Z' })
      await gaze.store({ session_id: 's', records: [...here, ...ahead] }, 'key_a')
      const places = await gaze.dwell({ root: '/p', since: '2026-11-21T00:00:00.000Z', limit: 1000 })
      assert.deepEqual([...new Set(places.map((place) => place.path))], ['here.ts'])

      const { records } = await latestAttention(gaze, { sessionId: 's', callerId: 'key_a' }, clock)
      assert.deepEqual([...new Set(records.map((record) => record.env.path))], ['here.ts'])
    })

    describe('verification', () => {
      const OWN = { description: 'records of key_a', callerId: 'key_a', from: '2026-11-20T00:00:00.000Z', until: null }

      /** A passed attestation for `task_1`, of records that `key_a` stored. */
      async function attest(sessionId = 's') {
        const records = humanStream(4)
        clock = sentAfter(records)
        const { attestation } = await gaze.store({ session_id: sessionId, task_id: 'task_1', records }, 'key_a')
        assert.equal(attestation.status, 'passed')
        return attestation
      }

      function check(
        attestationId: string,
        taskId = 'task_1',
        secondsLater = 0,
        evidence: readonly Evidence[] = [OWN],
        level: GazeLevel | null = null,
      ): Promise<string[]> {
        const at = new Date(clock.getTime() + 1000 * secondsLater).toISOString()
        return store.write((trx) => gaze.verifier.check(trx, { attestationId, taskId, evidence, level, at }))
      }

      function use(attestationId: string, usedBy = 'claim task_1'): Promise<boolean> {
        return store.write((trx) => gaze.verifier.use(trx, { attestationId, usedBy, at: clock.toISOString() }))
      }

      it('passes an attestation of the task, also when records were stored after it', async () => {
        const { id } = await attest()
        assert.deepEqual(await check(id), [])
        const later = shifted(humanStream(5, { records: 10 }), 60_000)
        await gaze.store(
          {
            session_id: 's',
            task_id: 'task_1',
            records: [...later, ...shifted(later.slice(0, 1), -70_000)],
          },
          'key_a',
        )
        assert.deepEqual(await check(id), [])
      })

      it('passes one of a long session, of which a part is assessed', async () => {
        const records = humanStream(4, { records: 1500 })
        clock = sentAfter(records)
        await gaze.store({ session_id: 's', task_id: 'task_1', records: records.slice(0, 800) }, 'key_a')
        const { attestation } = await gaze.store(
          { session_id: 's', task_id: 'task_1', records: records.slice(800) },
          'key_a',
        )
        assert.deepEqual(await check(attestation.id), [])
      })

      it('uses an attestation once, of sixteen at once', async () => {
        const { id } = await attest()
        const used = await Promise.all(Array.from({ length: 16 }, (_, i) => use(id, `claim ${i}`)))
        assert.equal(used.filter(Boolean).length, 1)
        assert.deepEqual(await check(id), ['The attestation was used before. Store newer gaze records.'])
        assert.equal(await use(id), false)
      })

      it('refuses one of records that were used before, also when it is issued again, until enough newer ones came', async () => {
        const { id, records } = await attest()
        assert.equal(await use(id), true)
        const again = await gaze.store({ session_id: 's', task_id: 'task_1', records: humanStream(4) }, 'key_a')
        assert.deepEqual([again.stored, again.attestation.status], [0, 'passed'])
        const newerThanUsed = (count: number) => [
          `${count} of its records are newer than those that were used before; ${CONFIG.recordsNeeded} are needed.`,
        ]
        assert.deepEqual(await check(again.attestation.id), newerThanUsed(0))
        assert.equal(await use(again.attestation.id), false)

        const later = humanStream(5, { start: clock.toISOString() })
        clock = sentAfter(later)
        const few = later.slice(0, CONFIG.recordsNeeded - 1)
        const short = await gaze.store({ session_id: 's', task_id: 'task_1', records: few }, 'key_a')
        assert.deepEqual(await check(short.attestation.id), newerThanUsed(few.length))
        const enough = await gaze.store({ session_id: 's', task_id: 'task_1', records: later }, 'key_a')
        assert.equal(enough.attestation.records, records + later.length)
        assert.deepEqual(await check(enough.attestation.id), [])

        assert.equal(await use(enough.attestation.id), true)
        clock = new Date(clock.getTime() + 1000 * CONFIG.maxAgeSeconds)
        const anew = await gaze.attestation('s')
        assert.deepEqual([anew.status, anew.issued_at], ['passed', clock.toISOString()])
        assert.deepEqual(await check(anew.id), newerThanUsed(0))
      })

      it('does not use one up in a transaction that is given up', async () => {
        const { id } = await attest()
        const fault = new Error('given up')
        const given = store.write(async (trx) => {
          assert.equal(await gaze.verifier.use(trx, { attestationId: id, usedBy: 'x', at: clock.toISOString() }), true)
          throw fault
        })
        await assert.rejects(given, fault)
        assert.deepEqual(await check(id), [])
      })

      it('reads one that was issued before it stated evidence and level, and passes it', async () => {
        const { evidence, level, ...before } = await attest()
        const body = JSON.stringify(before)
        await store.db.updateTable('attestations').set({ body }).where('id', '=', before.id).execute()
        const read = await gaze.attestation('s')
        assert.deepEqual([read.id, read.level, read.evidence.novelty], [before.id, level, null])
        assert.equal(read.evidence.plausibility, evidence.plausibility)
        assert.deepEqual(await check(before.id), [])
      })

      it('refuses one that is unknown, of another task or of none', async () => {
        assert.match((await check('att_none')).join(), /^There is no such attestation/)
        const { id } = await attest()
        assert.match((await check(id, 'task_2')).join(), /bound to another task, not to task_2/)
        const free = await gaze.store({ records: shifted(humanStream(9), 5000) })
        clock = sentAfter(shifted(humanStream(9), 5000))
        assert.match((await check(free.attestation.id)).join(), /bound to no task/)
      })

      it('refuses one that is too old', async () => {
        const { id } = await attest()
        assert.deepEqual(await check(id, 'task_1', 900), [])
        assert.match((await check(id, 'task_1', 901)).join(), /is 901 s old; at most 900 s/)
      })

      it('refuses one that is collecting, failed or below the score that is asked for now', async () => {
        const few = humanStream(4, { records: 10 })
        clock = sentAfter(few)
        const collecting = await gaze.store({ task_id: 'task_1', records: few }, 'key_a')
        assert.match((await check(collecting.attestation.id)).join(), /still collecting: 10 of the 20 records/)
        const { id, poa_score } = await attest()
        const stricter = createGaze({
          store,
          config: { ...CONFIG, minScore: 0.999, recordsNeeded: 90 },
          now: () => clock,
        })
        const reasons = await store.write((trx) =>
          stricter.verifier.check(trx, {
            attestationId: id,
            taskId: 'task_1',
            evidence: [OWN],
            level: null,
            at: clock.toISOString(),
          }),
        )
        assert.deepEqual(reasons, [`Its score is ${poa_score}; 0.999 or more is needed.`])
      })

      it('passes records unlike a person’s at the level seen alone, and says what is missing for plausible', async () => {
        const constant = humanStream(4).map((record) => ({ ...record, dwell_ms: 250 }))
        clock = sentAfter(constant)
        const { attestation } = await gaze.store({ task_id: 'task_1', records: constant }, 'key_a')
        assert.deepEqual([attestation.status, attestation.level], ['failed', 'seen'])
        const at = (level: GazeLevel | null) => check(attestation.id, 'task_1', 0, [OWN], level)
        assert.deepEqual(await at('seen'), [])
        const [missing = '', why = ''] = await at('plausible')
        assert.equal(missing, 'The attestation reaches the level seen; plausible is needed.')
        assert.match(why, /^The attestation failed: the score .* is below 0\.6.*unlike a person in: .*variation/)
        assert.deepEqual(await at(null), await at('plausible'), 'plausible is the default')

        const lenient = createGaze({ store, config: { ...CONFIG, requiredLevel: 'seen' }, now: () => clock })
        const asked = { attestationId: attestation.id, taskId: 'task_1', evidence: [OWN], at: clock.toISOString() }
        assert.deepEqual(await lenient.verifier.check(store.db, { ...asked, level: null }), [])
        assert.equal((await lenient.verifier.check(store.db, { ...asked, level: 'plausible' }))[0], missing)
      })

      it('passes at the level seen neither a replay, nor too few records, nor those of another time', async () => {
        await attest('original')
        const copy = shifted(humanStream(4), 5000)
        clock = sentAfter(copy)
        const { attestation } = await gaze.store({ session_id: 'copy', task_id: 'task_1', records: copy }, 'key_a')
        const seen = async (id: string, evidence = OWN) => (await check(id, 'task_1', 0, [evidence], 'seen')).join(' ')
        assert.match(await seen(attestation.id), /^The attestation reaches the level none; seen is needed\..*copied/)
        const few = humanStream(5, { records: 10 })
        const collecting = await gaze.store({ task_id: 'task_1', records: few }, 'key_a')
        assert.match(await seen(collecting.attestation.id), /still collecting: 10 of the 20 records/)
        const own = await gaze.store({ task_id: 'task_1', records: shifted(humanStream(6), 5000) }, 'key_a')
        const tomorrow = { ...OWN, from: '2026-11-22T00:00:00.000Z' }
        assert.match(await seen(own.attestation.id, tomorrow), /^0 of its 60 newest records count/)
      })

      it('refuses one whose records were copied from another session', async () => {
        await attest('original')
        const copy = shifted(humanStream(4), 5000)
        clock = sentAfter(copy)
        const { attestation } = await gaze.store({ session_id: 'copy', task_id: 'task_1', records: copy }, 'key_a')
        const reasons = (await check(attestation.id)).join()
        assert.match(reasons, /failed: the records were copied from another session/)
        assert.match(reasons, /Its records were copied from another session/)
      })

      const FORGED = /does not match the records that it covers/
      const forgeries: Record<string, (attestation: Attestation) => Promise<unknown>> = {
        'a record was changed': () =>
          forgePacks(store, (pack) => ({
            ...pack,
            records: pack.records.map((record) =>
              record.seq === 30 ? { ...record, tensor: humanStream(7, { records: 1 })[0] as GazeTensor } : record,
            ),
          })),
        'its last record was changed': () => forgePacks(store, (pack) => ({ ...pack, head: 'f'.repeat(64) })),
        'its first record was changed': () => forgePacks(store, (pack) => ({ ...pack, anchor: 'f'.repeat(64) })),
        'a record is gone': () =>
          forgePacks(store, (pack) => ({ ...pack, records: pack.records.filter(({ seq }) => seq !== 20) })),
        'all records are gone': () => store.db.deleteFrom('gaze_packs').execute(),
        'its status was changed in one place': ({ id }) =>
          store.db.updateTable('attestations').set({ poa_score: 1 }).where('id', '=', id).execute(),
        'its score was changed in all places': (attestation) =>
          store.db
            .updateTable('attestations')
            .set({ poa_score: 1, body: JSON.stringify({ ...attestation, poa_score: 1 }) })
            .where('id', '=', attestation.id)
            .execute(),
        'its level was raised': (attestation) =>
          store.db
            .updateTable('attestations')
            .set({ body: JSON.stringify({ ...attestation, level: 'present' }) })
            .where('id', '=', attestation.id)
            .execute(),
        'it was moved to another task': (attestation) =>
          store.db
            .updateTable('attestations')
            .set({ task_id: 'task_2', body: JSON.stringify({ ...attestation, task_id: 'task_2' }) })
            .where('id', '=', attestation.id)
            .execute(),
        'it was moved to another session': (attestation) =>
          store.db
            .updateTable('attestations')
            .set({ session_id: 'other', body: JSON.stringify({ ...attestation, session_id: 'other' }) })
            .where('id', '=', attestation.id)
            .execute(),
      }
      for (const [what, forge] of Object.entries(forgeries))
        it(`refuses one as forged: ${what}`, async () => {
          const attestation = await attest()
          await forge(attestation)
          const { task_id } = await store.db.selectFrom('attestations').select('task_id').executeTakeFirstOrThrow()
          assert.match((await check(attestation.id, task_id ?? '')).join(), FORGED)
        })

      it('refuses one as forged: it collects, or is a replay, and was made to say that it passed', async () => {
        await attest('original')
        const few = humanStream(5, { records: 19 })
        clock = sentAfter(few)
        const collecting = await gaze.store({ session_id: 'few', task_id: 'task_1', records: few }, 'key_a')
        assert.ok(collecting.attestation.poa_score >= CONFIG.minScore, 'its score alone would pass')
        const copied = await gaze.store(
          {
            session_id: 'copy',
            task_id: 'task_1',
            records: shifted(humanStream(4), 5000),
          },
          'key_a',
        )
        for (const { attestation } of [collecting, copied]) {
          assert.notEqual(attestation.status, 'passed')
          const body = JSON.stringify({ ...attestation, status: 'passed', reasons: [], replayed: false })
          await store.db
            .updateTable('attestations')
            .set({ status: 'passed', body })
            .where('id', '=', attestation.id)
            .execute()
          assert.match((await check(attestation.id)).join(), FORGED)
        }
      })

      describe('asks whose records they are, and of which time', () => {
        const START = '2026-11-21T07:00:00.000Z'
        const later = (ms: number) => new Date(Date.parse(START) + ms).toISOString()
        const between = (from: number, until: number | null, callerId = 'key_a'): Evidence => ({
          description: `records of ${callerId}`,
          callerId,
          from: later(from),
          until: until === null ? null : later(until),
        })

        /** Records of a minute from the start on, stored at a time. */
        async function stored(ms: number, records = humanStream(4, { records: 150 })) {
          clock = new Date(later(ms))
          return (await gaze.store({ session_id: 's', task_id: 'task_1', records }, 'key_a')).attestation.id
        }
        const reasons = async (id: string, ...evidence: Evidence[]) =>
          (await check(id, 'task_1', 0, evidence)).join(' ')

        it('passes records of the key that were made and stored in that time', async () => {
          const id = await stored(60_000)
          assert.equal(await reasons(id, between(0, null)), '')
          assert.equal(await reasons(id, between(0, 60_000)), '')
          assert.equal(await reasons(id, between(0, 1, 'key_b'), between(0, 60_000)), '')
          assert.equal(await reasons(id, between(60_000, null), between(0, 60_000)), '')
        })

        it('refuses those of another key, and of a tool on this machine', async () => {
          const id = await stored(60_000)
          const told = /^Its records were stored by someone else; only records of key_b, or records of key_c count\.$/
          assert.match(await reasons(id, between(0, null, 'key_b'), between(0, null, 'key_c')), told)
          const records = shifted(humanStream(5), 5000)
          const { attestation } = await gaze.store({ task_id: 'task_1', records })
          assert.match(await reasons(attestation.id, between(0, null)), /stored by someone else/)
        })

        it('refuses those of an earlier time, however late they are stored', async () => {
          const id = await stored(600_000)
          assert.match(
            await reasons(id, between(300_000, null)),
            /^0 of its 150 newest records count; only records of key_a are accepted/,
          )
        })

        it('refuses those that were stored after that time, however early they are dated', async () => {
          assert.match(await reasons(await stored(120_000), between(0, 90_000)), /^0 of its 150 newest records count/)
        })

        it('refuses those that were stored before that time, and dated into it', async () => {
          const ahead = await stored(-30_000, humanStream(4))
          assert.match(await reasons(ahead, between(0, null)), /^0 of its 60 newest records count/)
        })

        it('refuses those that were dated more than a minute ahead as they were stored', async () => {
          await stored(-120_000)
          const id = await stored(60_000, shifted(humanStream(5, { records: 10 }), 58_000))
          assert.match(await reasons(id, between(-180_000, null)), /^10 of its 160 newest records count/)
        })

        it('passes enough records of that time beside others, and refuses too few', async () => {
          const id = await stored(60_000)
          assert.equal(await reasons(id, between(20_000, null)), '')
          assert.match(await reasons(id, between(55_000, null)), /newest records count.*20 over 5000 ms are needed/)
        })
      })

      it('binds a new session to no task that does not exist', async () => {
        const records = humanStream(4)
        const missing = gaze.store({ session_id: 's', task_id: 'task_9', records }, 'key_a')
        await assert.rejects(missing, { code: 'not_found', status: 404, param: 'task_id' })
        assert.equal((await gaze.retrieve({ limit: 1 })).total, 0)
      })

      it('passes one whose old records were cleared away since', async () => {
        const old = shifted(humanStream(6, { records: 30 }), -86_400_000)
        await gaze.store({ session_id: 's', task_id: 'task_1', records: old }, 'key_a')
        await pruneGaze(store, '2026-11-21T00:00:00.000Z', 500)
        const { id } = await attest()
        assert.deepEqual(await check(id), [])
      })
    })
  })
}
