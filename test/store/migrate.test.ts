import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { sql } from 'kysely'
import { requireUpToDate } from '../../src/store/look.ts'
import { migrate } from '../../src/store/migrate.ts'
import { MIGRATIONS, type Migrations } from '../../src/store/migrations/migrations.ts'
import { openStore } from '../../src/store/open-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'gazeway-migrate-'))
after(() => rmSync(folder, { recursive: true }))

/** This version's steps, and one of a later version. */
const LATER: Migrations = {
  ...MIGRATIONS,
  '002_later': async (db) => void (await sql`alter table sweeps add column note text`.execute(db)),
}

describe('a store of an earlier version', () => {
  it('is brought forward with what it holds, by the first of several processes', async () => {
    const file = join(folder, 'store.db')
    const stores = await Promise.all([1, 2, 3].map(() => openStore(`sqlite:${file}`)))
    const [{ db }] = stores as [(typeof stores)[0]]
    await db.insertInto('sweeps').values({ name: 'kept', next_at: '2026-11-21T07:00:00.000Z' }).execute()
    await Promise.all(stores.map((store) => migrate(store.db, store.engine, file, LATER)))
    const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db)
    assert.deepEqual(
      rows.map(({ name }) => name),
      Object.keys(LATER),
    )
    assert.deepEqual((await sql`select name, note from sweeps`.execute(db)).rows, [{ name: 'kept', note: null }])
    await Promise.all(stores.map((store) => store.close()))
    await assert.rejects(openStore(`sqlite:${file}`), { code: 'store_too_new' })
  })

  it('is left as it is by commands that promise it', async () => {
    const file = join(folder, 'older.db')
    await (await openStore(`sqlite:${file}`)).close()
    const before = readFileSync(file)
    await requireUpToDate(`sqlite:${file}`)
    await assert.rejects(requireUpToDate(`sqlite:${file}`, LATER), {
      code: 'conflict',
      message: /was written by an earlier Gazeway and is 1 migration behind\. This command does not migrate it/,
    })
    assert.deepEqual(readFileSync(file), before)
  })
})

describe('an address that names no store', () => {
  for (const url of ['mysql://127.0.0.1/gazeway', 'sqlite:', 'gazeway.db'])
    it(`is refused as a mistake in the configuration: ${url}`, async () => {
      for (const open of [openStore, requireUpToDate])
        await assert.rejects(open(url), { code: 'config_invalid', message: /must be sqlite:PATH or postgres:/ })
    })
})
