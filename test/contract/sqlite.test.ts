import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { sql } from 'kysely'
import { openStore } from '../../src/store/open-store.ts'
import { openEmptyStore } from '../store/empty-store.ts'
import { storeContract } from './store.ts'

const folder = mkdtempSync(join(tmpdir(), 'gazeway-contract-'))
after(() => rmSync(folder, { recursive: true }))

let opened = 0
storeContract('sqlite', () => openEmptyStore(join(folder, `${opened++}`, 'store.db')))

it('is kept by a SQLite whose log several processes may share, and every commit is on the disk', async () => {
  const store = await openStore(`sqlite:${join(folder, 'log.db')}`)
  const ask = async (what: string) => {
    // Of the connection that writes.
    return store.write(async (trx) => {
      const { rows } = await sql<{ answer: unknown }>`select ${sql.raw(what)} as answer`.execute(trx)
      return rows[0]?.answer
    })
  }
  const [major = 0, minor = 0, patch = 0] = String(await ask('sqlite_version()'))
    .split('.')
    .map(Number)
  // Before, processes on one file could lose commits (https://sqlite.org/wal.html).
  assert.ok(major === 3 && minor * 1000 + patch >= 51_003, `SQLite ${major}.${minor}.${patch}`)
  assert.equal(await ask('(select journal_mode from pragma_journal_mode)'), 'wal')
  assert.equal(await ask('(select synchronous from pragma_synchronous)'), 2)
  // Else a transaction of more than 2 MB writes a page each time it changes it.
  assert.equal(await ask('(select cache_spill from pragma_cache_spill)'), 4000)
  await store.close()
})
