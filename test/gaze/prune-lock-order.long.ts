import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createGaze } from '../../src/gaze/gaze.ts'
import { pruneGaze } from '../../src/gaze/prune.ts'
import { openStore } from '../../src/store/open-store.ts'
import { sharedPostgres } from '../contract/shared-postgres.ts'
import { humanStream } from './human-stream.ts'

const TERMS = { minScore: 0.6, recordsNeeded: 20, minDurationMs: 5000, windowRecords: 1000, maxAgeSeconds: 900 }
const WRITERS = 10
/** Batches of each writer, of three records. */
const EACH = 10
const BEFORE = '2026-12-01T00:00:00.000Z'

const server = await sharedPostgres()

it('Gaze past its retention is deleted while ten write to its session, and nobody waits crosswise for another', async (t) => {
  const url = await server.databaseWithTables()
  const [store, other] = [await openStore(url), await openStore(url)]
  t.after(() => Promise.all([store.close(), other.close()]))
  const gaze = createGaze({ store, config: TERMS, now: () => new Date('2026-11-21T09:00:00.000Z') })
  const records = humanStream(3, { records: 3 * WRITERS * EACH })
  let writing = WRITERS
  const write = async (writer: number) => {
    for (let i = 0; i < EACH; i++) {
      const from = 3 * (EACH * writer + i)
      const session_id = writer === 0 ? 'beside' : 'busy'
      const { stored } = await gaze.store({ session_id, records: records.slice(from, from + 3) }, 'key_a')
      assert.equal(stored, 3)
    }
    writing--
  }
  const prune = async () => {
    do await pruneGaze(other, BEFORE, 1000)
    while (writing > 0)
  }
  await Promise.all([...Array.from({ length: WRITERS }, (_, writer) => write(writer)), prune(), prune()])
  while ((await pruneGaze(other, BEFORE, 1000)) > 0);
  const sessions = await store.db.selectFrom('gaze_sessions').select(['records', 'pruned']).orderBy('records').execute()
  assert.deepEqual(sessions, [
    { records: 3 * EACH, pruned: 3 * EACH },
    { records: 27 * EACH, pruned: 27 * EACH },
  ])
  for (const table of ['gaze_packs', 'gaze_stretches', 'gaze_dwell'] as const)
    assert.deepEqual(await store.db.selectFrom(table).selectAll().execute(), [], table)
})
