import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { sql } from 'kysely'
import {
  CHAIN_START,
  canonicalJson,
  chainHash,
  SHAPE_RECORDS,
  shapeStep,
  verifyChain,
} from '../../src/gaze/fingerprint.ts'
import { createGaze } from '../../src/gaze/gaze.ts'
import { pruneGaze } from '../../src/gaze/prune.ts'
import { endOf } from '../../src/gaze/scanpath.ts'
import type { GazeTensor } from '../../src/gaze/tensor.ts'
import { openStore } from '../../src/store/open-store.ts'
import { newId } from '../../src/text/ids.ts'
import { startPostgres } from '../contract/postgres-server.ts'
import { humanStream } from '../gaze/human-stream.ts'
import { shifted } from '../gaze/streams.ts'
import { restore } from './dump.ts'
import { dumpFile } from './landed.ts'

const TERMS = { minScore: 0.6, recordsNeeded: 20, minDurationMs: 5000, windowRecords: 1000, maxAgeSeconds: 900 }
const PRINT_DIGITS = 16

const literal = (value: string | number | null) =>
  typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)
const print = (text: string) => hash('sha256', text).slice(0, PRINT_DIGITS)

/** Writes rows of a session as the code before 033 did, from the record `first` of its chain on. */
function oldRows(sessionId: string, records: readonly GazeTensor[], first = 1): { text: string; head: string } {
  const statements: string[] = []
  let head = CHAIN_START
  for (const [i, tensor] of records.entries()) {
    const json = canonicalJson(tensor)
    const own = { id: newId('gaze'), session_id: sessionId, task_id: null, seq: i + 1 }
    head = chainHash(head, own, json)
    const steps = records.slice(Math.max(0, i + 1 - SHAPE_RECORDS), i + 1).map(shapeStep)
    const start = steps[0]?.ms ?? 0
    const shape =
      steps.length < SHAPE_RECORDS
        ? null
        : print(`${steps.map(({ measured }) => measured)}${steps.map(({ ms }) => ms - start)}`)
    const { at, dwell_ms, source, confidence = null, env } = tensor
    const { x = null, y = null, path = null } = env
    // Earlier records were cleared away, with their hashes.
    if (own.seq < first) continue
    const row = [
      own.id,
      sessionId,
      own.seq,
      null,
      'key_a',
      at,
      at,
      dwell_ms,
      source,
      confidence,
      x,
      y,
      path,
      json,
      head,
    ]
    const values = [...row, print(json), shape, Date.parse(at), 0].map(literal)
    statements.push(`insert into gaze_records (id, session_id, seq, task_id, caller_id, at, stored_at, dwell_ms, source,
      confidence, x, y, path, tensor, hash, content_hash, shape_hash, tick, copied) values (${values});`)
    for (const kept of shape === null ? [print(json)] : [print(json), shape])
      statements.push(`insert into gaze_prints values ('${kept}', '${sessionId}');`)
  }
  const at = records[0]?.at ?? ''
  const session = [sessionId, null, 'key_a', records.length, first - 1, head, null, at, at, null].map(literal)
  statements.push(`insert into gaze_sessions (session_id, task_id, caller_id, records, pruned, chain_head, last_place,
    created_at, updated_at, sketch) values (${session});`)
  return { text: statements.join('\n'), head }
}

describe('gaze records from before there were packs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-old-gaze-'))
  const server = startPostgres()
  after(async () => {
    await (await server).remove()
    rmSync(folder, { recursive: true })
  })

  for (const engine of ['sqlite', 'postgres'] as const)
    it(`keep their ids and their chain, are found as copies, and go on: ${engine}`, async () => {
      const url = engine === 'sqlite' ? `sqlite:${join(folder, 'old.db')}` : await (await server).database()
      const records = humanStream(4, { records: 700 })
      const apart = [
        ...humanStream(5, { records: 30 }),
        ...humanStream(6, { records: 30, start: '2026-11-22T07:00:00.000Z' }),
      ]
      const whole = oldRows('whole', records)
      const cleared = oldRows('cleared', apart, 11)
      await restore(
        url,
        `${readFileSync(dumpFile('032_listed_sessions', engine), 'utf8')} ${whole.text} ${cleared.text}`,
      )
      const store = await openStore(url)
      let clock = new Date(Math.max(...records.map(endOf)))
      const gaze = createGaze({ store, config: TERMS, now: () => clock })

      const chain = (await gaze.retrieve({ session_id: 'whole', limit: 1000 })).items.reverse()
      assert.ok(chain.length === 700 && verifyChain(chain))
      assert.equal(chain.at(-1)?.hash, whole.head)
      for (const { id } of chain) assert.match(id, /^gaze_[0-9a-f]{32}$/)
      const rest = (await gaze.retrieve({ session_id: 'cleared', limit: 1000 })).items.reverse()
      assert.deepEqual([rest.length, rest[0]?.seq, rest.at(-1)?.hash], [50, 11, cleared.head])

      const copied = shifted(records.slice(0, 60), 5000)
      const copy = await gaze.store({ session_id: 'copy', records: copied }, 'key_b')
      assert.equal(copy.attestation.replayed, true)

      const more = humanStream(7, { records: 60, start: clock.toISOString() })
      clock = new Date(Math.max(...more.map(endOf)))
      const { stored, duplicates, attestation } = await gaze.store(
        { session_id: 'whole', records: [...records.slice(-40), ...more] },
        'key_a',
      )
      assert.deepEqual([stored, duplicates, attestation.status], [60, 40, 'passed'])
      const longer = (await gaze.retrieve({ session_id: 'whole', limit: 1000 })).items.reverse()
      assert.ok(longer.length === 760 && verifyChain(longer))
      assert.equal(longer.at(-1)?.hash, attestation.chain_head)

      while ((await pruneGaze(store, '2026-12-31T00:00:00.000Z', 100)) > 0) clock = new Date(clock.getTime() + 1)
      for (const table of ['gaze_packs', 'gaze_stretches', 'gaze_prints', 'gaze_traces'])
        assert.deepEqual((await sql`select * from ${sql.table(table)}`.execute(store.db)).rows, [], table)
      await store.close()
    })
})
