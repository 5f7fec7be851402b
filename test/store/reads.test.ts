import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { sql } from 'kysely'
import { openSqlite } from '../../src/store/sqlite/sqlite.ts'

/** Counts to a number that takes SQLite a while, and keeps the thread that it does so in busy. */
const slow = (to: number) =>
  sql<{ n: number }>`with recursive counted (n) as (select 1 union all select n + 1 from counted where n < ${to})
    select count(*) as n from counted`

describe('long reads on SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-reads-'))
  const store = await openSqlite(join(folder, 'store.db'))
  after(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })
  const next = (name: string) => ({ name, next_at: '2026-01-01T00:00:00.000Z' })

  it('leave the thread to others, and the other connection, too', async () => {
    let isOver = false
    const counted = slow(3_000_000)
      .execute(store.reads)
      .then(({ rows }) => {
        isOver = true
        return rows
      })
    let turns = 0
    for (; turns < 20; turns++) {
      await sql`select 1`.execute(store.db)
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.equal(isOver, false)
    assert.deepEqual(await counted, [{ n: 3_000_000 }])
  })

  it('see all that was written before, and write nothing', async () => {
    await store.write((trx) => trx.insertInto('sweeps').values(next('seen')).execute())
    assert.deepEqual(await store.reads.selectFrom('sweeps').selectAll().execute(), [next('seen')])
    await assert.rejects(store.reads.insertInto('sweeps').values(next('unwritten')).execute(), {
      code: 'store_unavailable',
    })
  })

  it('read any number of rows and values in batches, each once and in order', async () => {
    const many = sql<{ n: number; text: string }>`with recursive counted (n) as
      (select 1 union all select n + 1 from counted where n < 3000)
      select n, substr(hex(zeroblob(1000)), 1, n) as text from counted`
    const { rows } = await many.execute(store.reads)
    assert.deepEqual(
      rows.map(({ n, text }) => [n, text.length]),
      Array.from({ length: 3000 }, (_, i) => [i + 1, Math.min(i + 1, 2000)]),
    )
  })

  it('are of one moment in a snapshot, while others write', async () => {
    const names = await store.snapshot(async (trx) => {
      const read = () => trx.selectFrom('sweeps').select('name').orderBy('name').execute()
      const before = await read()
      await store.write((write) => write.insertInto('sweeps').values(next('later')).execute())
      assert.deepEqual(await read(), before)
      return before
    })
    assert.equal((await store.reads.selectFrom('sweeps').select('name').execute()).length, names.length + 1)
  })

  it('fail by themselves: the next one is answered', async () => {
    await assert.rejects(sql`select * from nowhere`.execute(store.reads), /no such table/)
    assert.deepEqual((await sql`select 1 as one`.execute(store.reads)).rows, [{ one: 1 }])
  })

  it('wait in a line that has an end', async () => {
    const asked = Array.from({ length: 1100 }, () => slow(2_000).execute(store.reads))
    const outcomes = await Promise.allSettled(asked)
    const refused = outcomes.filter(({ status }) => status === 'rejected')
    assert.equal(refused.length, 1100 - 1024)
    for (const outcome of refused)
      if (outcome.status === 'rejected') assert.equal(outcome.reason.code, 'store_unavailable')
  })

  it('are waited for when the store is closed', async () => {
    const other = await openSqlite(join(folder, 'other.db'))
    const reading = slow(300_000).execute(other.reads)
    await other.close()
    assert.deepEqual((await reading).rows, [{ n: 300_000 }])
  })
})
