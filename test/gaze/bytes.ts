import { sql } from 'kysely'
import { createGaze } from '../../src/gaze/gaze.ts'
import { endOf } from '../../src/gaze/scanpath.ts'
import type { Store } from '../../src/store/store.ts'
import { humanStream } from './human-stream.ts'

const TERMS = { minScore: 0.6, recordsNeeded: 20, minDurationMs: 5000, windowRecords: 1000, maxAgeSeconds: 900 }
/** Records of one batch, about five minutes of fixations. */
const BATCH = 1000
const BATCH_MS = 310_000

/** Bytes of all tables with their indexes. */
const BYTES = {
  sqlite: sql<{ bytes: number }>`select sum(pgsize) as bytes from dbstat`,
  postgres: sql<{ bytes: number }>`select sum(pg_total_relation_size(oid)) as bytes from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace`,
}

/**
 * Stores fixations with all channels measured, of sessions that follow each other, and measures how many bytes the store
 * grows by with each: the record, its hashes and traces, sums and indexes.
 */
export async function bytesOfRecord(store: Store, sessions: number): Promise<number> {
  let clock = new Date()
  const gaze = createGaze({ store, config: TERMS, now: () => clock })
  const size = async () => Number((await BYTES[store.engine].execute(store.db)).rows[0]?.bytes)
  const before = await size()
  const start = Date.parse('2026-11-21T07:00:00.000Z')
  let records = 0
  for (let i = 0; i < sessions; i++) {
    const stream = humanStream(i + 1, { records: BATCH, start: new Date(start + i * BATCH_MS).toISOString() })
    clock = new Date(Math.max(...stream.map(endOf)))
    records += (await gaze.store({ session_id: `session ${i}`, records: stream }, 'key_a')).stored
  }
  return ((await size()) - before) / records
}
