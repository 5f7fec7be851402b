import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { NO_SESSION } from '../../src/calls/call-session.ts'
import { createCalls } from '../../src/calls/calls.ts'
import { createGaze } from '../../src/gaze/gaze.ts'
import { createKeys } from '../../src/identity/keys.ts'
import { createMemory, MemoryInput, MemorySearch } from '../../src/memory/memory.ts'
import { copyStore } from '../../src/store/copy.ts'
import { openStore } from '../../src/store/open-store.ts'
import { RECORD_TABLES, type RecordTable } from '../../src/store/schema.ts'
import type { Store } from '../../src/store/store.ts'
import { humanStream } from '../gaze/human-stream.ts'
import { openEmptyStore } from '../store/empty-store.ts'
import { keepMany } from './keep-many.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'

const GAZE = { minScore: 0.6, recordsNeeded: 20, minDurationMs: 5000, windowRecords: 1000, maxAgeSeconds: 900 }
const now = () => new Date('2026-11-21T07:17:52.000Z')
const onError = (error: unknown) => assert.fail(String(error))

describe('store copy', () => {
  let folder: string
  let server: PostgresServer
  let filled: Store
  let files = 0

  const newSqlite = () => openEmptyStore(join(folder, `${files++}.db`))
  const newPostgres = async () => openStore(await server.databaseWithTables())

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gazeway-copy-'))
    server = await startPostgres()
    filled = await newSqlite()
    await fill(filled)
  })
  after(async () => {
    await filled.close()
    await server.remove()
    rmSync(folder, { recursive: true })
  })

  it('keeps every row over SQLite, PostgreSQL, PostgreSQL and SQLite again', async () => {
    const expected = await contents(filled)
    for (const table of Object.keys(RECORD_TABLES) as RecordTable[]) assert.ok(expected[table].length > 0, table)
    const copies = [filled]
    for (const open of [newPostgres, newPostgres, newSqlite]) {
      const target = await open()
      const { tables, checks } = await copyStore(copies.at(-1) ?? filled, target)
      assert.equal(tables.memories, 451)
      assert.ok(checks.length > 0)
      assert.deepEqual(await contents(target), expected)
      copies.push(target)
    }
    for (const target of copies.slice(1)) {
      await useIt(target)
      await target.close()
    }
  })

  it('refuses a target that holds records, and leaves it as it was', async () => {
    const target = await newPostgres()
    await createKeys({ store: target, now, fixedKey: null, onError }).create({ name: 'mine', scopes: ['admin'] })
    const held = await contents(target)
    await assert.rejects(copyStore(filled, target), { code: 'conflict', message: /\(keys\)/ })
    assert.deepEqual(await contents(target), held)
    await target.close()
  })

  for (const [engine, open] of [
    ['SQLite', newSqlite],
    ['PostgreSQL', newPostgres],
  ] as const)
    it(`leaves nothing on ${engine} when it is interrupted, and may be run again`, async () => {
      const target = await open()
      const stop = new AbortController()
      let rows = 0
      const interrupted = copyStore(filled, target, {
        signal: stop.signal,
        onProgress: ({ copied }) => {
          rows = copied
          if (copied > 500) stop.abort()
        },
      })
      await assert.rejects(interrupted, { code: 'cancelled', message: /nothing was copied/ })
      assert.ok(rows > 500)
      for (const found of Object.values(await contents(target))) assert.deepEqual(found, [])
      await copyStore(filled, target)
      assert.deepEqual(await contents(target), await contents(filled))
      await target.close()
    })

  for (const [engine, place] of [
    ['SQLite', () => `sqlite:${join(folder, `${files++}.db`)}`],
    ['PostgreSQL', () => server.database()],
  ] as const)
    it(`copies one moment of a store on ${engine} that others write to`, async () => {
      const url = await place()
      const [source, other] = [await openStore(url), await openStore(url)]
      const memory = createMemory({ store: other, now })
      const put = (i: number) => memory.store(MemoryInput.parse({ key: `k${i}`, value: i }))
      const first = Array.from({ length: 300 }, (_, i) => ({ key: `k${i}`, value: i }))
      await keepMany(other, first, { now: now().toISOString() })
      const target = await newSqlite()
      let added = 300
      const writing: Promise<unknown>[] = []
      const { tables } = await copyStore(source, target, { onProgress: () => writing.push(put(added++)) })
      await Promise.all(writing)
      assert.ok(added > 301)
      assert.equal(tables.memories, 300)
      assert.equal((await createMemory({ store: target, now }).stats()).count, 300)
      for (const store of [source, other, target]) await store.close()
    })
})

/** Something in every table. */
async function fill(store: Store): Promise<void> {
  const memory = createMemory({ store, now })
  const many = Array.from({ length: 450 }, (_, i) => ({
    key: `k/${i}`,
    value: { z: i, a: '数据 "é" \u0000' },
    tags: ['t', `n${i % 3}`],
  }))
  await keepMany(store, many, { now: now().toISOString() })
  await memory.of('key_customer').store(MemoryInput.parse({ key: 'k/449', value: '数据 449 of a customer' }))
  const gaze = createGaze({ store, config: GAZE, now })
  for (const seed of [1, 2]) await gaze.store({ records: humanStream(seed, { records: 250 }) })
  const calls = createCalls({ store, onError })
  for (let i = 0; i < 700; i++)
    calls.record({
      call_id: `call_${String(i).padStart(5, '0')}`,
      at: new Date(now().getTime() - i * 60_000).toISOString(),
      surface: 'http',
      address: null,
      caller_id: null,
      path: '/v1/responses',
      requested_model: null,
      model: 'm',
      upstream: 'double',
      stream: true,
      status: 'ok',
      http_status: null,
      fallback_from: null,
      price_from: null,
      provider_key: null,
      ...NO_SESSION,
      skipped: [{ upstream: 'é', reason: 'circuit_open' }],
      latency_ms: i,
      first_token_ms: null,
      usage: null,
      upstream_cost_usd: 0.1,
      error: null,
      content: { request: { text: `a\u0000b \ud800 ${i}` }, answer: 1e21 },
    })
  await calls.flush()
  const keys = createKeys({ store, now, fixedKey: null, onError })
  await keys.create({ name: 'é', scopes: ['admin', 'inference'] })
  await keys.close()
  await fillTheRest(store)
}

/** Rows for tables that no service has written to here: what they hold matters less than that it arrives. */
async function fillTheRest(store: Store): Promise<void> {
  const known = await store.db.introspection.getTables()
  for (const table of Object.keys(RECORD_TABLES) as RecordTable[]) {
    const { rows: held } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(store.db)
    if (held.length > 0) continue
    const columns = known.find(({ name }) => name === table)?.columns ?? []
    for (let i = 1; i <= 3; i++) {
      const values = columns.map(({ name, dataType }) => {
        if (/^(int|real)/i.test(dataType)) return i
        // Text that is JSON too, where the column holds that.
        return /(_at|_until|^at|^hour|^start|deadline)$/.test(name) ? new Date(i).toISOString() : `"${i} é"`
      })
      await sql`insert into ${sql.table(table)} (${sql.join(columns.map(({ name }) => sql.ref(name)))})
        values (${sql.join(values)})`.execute(store.db)
    }
  }
}

/** The copy is in use: its index finds, and new rows get new numbers. */
async function useIt(store: Store): Promise<void> {
  const memory = createMemory({ store, now })
  const { results } = await memory.search(MemorySearch.parse({ query: '数据 449' }))
  assert.equal(results[0]?.memory.key, 'k/449')
  await memory.store(MemoryInput.parse({ key: 'added', value: 1 }))
  const [customer, another] = [memory.of('key_customer'), memory.of('key_another')]
  await another.store(MemoryInput.parse({ key: 'added', value: 1 }))
  const count = async (query: string) => (await customer.search(MemorySearch.parse({ query }))).total
  assert.deepEqual([await count('数据 449'), await count('added')], [1, 0])
}

async function contents(store: Store): Promise<Record<RecordTable, unknown[]>> {
  const found = {} as Record<RecordTable, unknown[]>
  for (const [table, key] of Object.entries(RECORD_TABLES) as Array<[RecordTable, readonly string[]]>) {
    const order = sql.join(key.map((column) => sql.ref(column)))
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(table)} order by ${order}`.execute(
      store.db,
    )
    // The lexemes of texts are PostgreSQL's own; those of memories have a column beside their number of words.
    const own = table === 'session_texts' ? 'words' : 'lexemes'
    found[table] = rows.map(({ [own]: _, ...row }) => ({ ...row }))
  }
  return found
}
