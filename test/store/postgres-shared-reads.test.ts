import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { sharedPostgres } from '../contract/shared-postgres.ts'
import { until } from '../doubles/until.ts'

/** Key of a lock that the test holds, so that a read of it takes as long as the test likes. */
const LOCK = 20_261_128

const server = await sharedPostgres()

describe('reads that share a round trip to PostgreSQL', () => {
  let store: Store
  let admin: pg.Client
  beforeEach(async () => {
    const url = await server.databaseWithTables()
    store = await openStore(url)
    admin = new pg.Client(url)
    await admin.connect()
    await admin.query('select pg_advisory_lock($1)', [LOCK])
  })
  afterEach(async () => {
    await admin.end()
    await store.close()
  })

  const fast = () => sql<{ one: number }>`select 1 as one`.execute(store.lookups)
  const failing = () => sql`select 1 / (random() * 0)::int as none`.execute(store.lookups)
  const slow = () => sql`select pg_advisory_xact_lock_shared(${sql.lit(LOCK)})`.execute(store.lookups)
  /** Processes of the server that run the slow read. */
  const waiting = async () =>
    (await admin.query<{ pid: number }>(`select pid from pg_locks where locktype = 'advisory' and not granted`)).rows

  it('keep their connection until the last of them is done, also after one failed', async () => {
    const reads = Promise.allSettled([failing(), slow(), fast()])
    await until(async () => (await waiting()).length === 1)
    // The error of the first came before the second began. Nothing waits on a connection that another may take.
    for (let look = 0; look < 10; look++) await sql`select 1`.execute(store.db)
    assert.equal(store.pool?.().used, 1)
    assert.equal((await waiting()).length, 1)
    await admin.query('select pg_advisory_unlock($1)', [LOCK])
    const [failed, ...others] = await reads
    assert.match(String(failed.status === 'rejected' && failed.reason), /outside the range/)
    assert.deepEqual(
      others.map(({ status }) => status),
      ['fulfilled', 'fulfilled'],
    )
    assert.equal(store.pool?.().used, 0)
  })

  it('do not run again when one of them is canceled, whatever failed before it', async () => {
    for (const reads of [
      [fast, slow, fast],
      [failing, slow, fast],
    ]) {
      const outcomes = Promise.allSettled(reads.map((read) => read()))
      const [process] = await until(async () => {
        const found = await waiting()
        return found.length > 0 && found
      })
      await admin.query('select pg_cancel_backend($1)', [process?.pid])
      for (const outcome of await outcomes)
        assert.match(String(outcome.status === 'rejected' && outcome.reason), /took too long and was stopped/)
      assert.deepEqual(await waiting(), [])
      assert.equal((await fast()).rows[0]?.one, 1)
    }
  })
})
