import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { sql } from 'kysely'
import { requireUpToDate } from '../../src/store/existing-store.ts'
import { migrate } from '../../src/store/migrate.ts'
import { MIGRATIONS, type Migrations } from '../../src/store/migrations/migrations.ts'
import { openStore } from '../../src/store/open-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'gazeway-migrate-'))
after(() => rmSync(folder, { recursive: true }))

/** This version's steps, and one of a later version. */
const LATER: Migrations = {
  ...MIGRATIONS,
  '999_later': async (db) => void (await sql`alter table sweeps add column note text`.execute(db)),
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

describe('a store with unknown migrations', () => {
  /** A store of this version that says that it has one more migration, or another first one. */
  async function withSteps(name: string, change: (steps: readonly string[]) => string[]): Promise<string> {
    const url = `sqlite:${join(folder, name)}`
    const { db, close } = await openStore(url)
    const rows = change(Object.keys(MIGRATIONS)).map((step) => sql`(${step}, '2026-11-26')`)
    await sql`delete from kysely_migration`.execute(db)
    await sql`insert into kysely_migration (name, timestamp) values ${sql.join(rows)}`.execute(db)
    await close()
    return url
  }

  it('is of a newer version when they come after those of this one', async () => {
    const url = await withSteps('newer.db', (steps) => [...steps, '998_later'])
    await assert.rejects(openStore(url), {
      code: 'store_too_new',
      message: /newer\.db was written by a newer Gazeway \(998_later\)\. Update this one/,
    })
  })

  it('is of another program when they come before', async () => {
    const url = await withSteps('other.db', (steps) => [...steps, '000_others'])
    await assert.rejects(openStore(url), {
      code: 'store_unavailable',
      message: /migrations of another \(000_others\)\. Open it with the program that wrote it/,
    })
  })

  it('is refused with what to export when it is older than the first format that is kept', async () => {
    const url = await withSteps('old.db', () => ['001_memory_and_calls', '002_gaze', '003_keys_and_idempotency'])
    await assert.rejects(openStore(url), {
      code: 'store_unavailable',
      message: /from before the first format that is kept.*gazeway memory export.*gazeway memory import FILE/,
    })
  })
})

describe('an address that names no store', () => {
  for (const url of ['mysql://127.0.0.1/gazeway', 'sqlite:', 'gazeway.db'])
    it(`is refused as a mistake in the configuration: ${url}`, async () => {
      for (const open of [openStore, requireUpToDate])
        await assert.rejects(open(url), { code: 'config_invalid', message: /must be sqlite:PATH or postgres:/ })
    })
})
