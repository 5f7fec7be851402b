import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { sql } from 'kysely'
import { createSessions, NewSession } from '../../src/sessions/sessions.ts'
import { openStore } from '../../src/store/open-store.ts'
import { openEmptyStore } from '../store/empty-store.ts'
import { storeContract } from './store.ts'

const folder = mkdtempSync(join(tmpdir(), 'gazeway-contract-'))
after(() => rmSync(folder, { recursive: true }))

let opened = 0
storeContract('sqlite', () => openEmptyStore(join(folder, `${opened++}`, 'store.db')))

it('keeps no word of a chat that was deleted in its full-text index', async () => {
  const store = await openEmptyStore(join(folder, 'deleted', 'store.db'))
  const sessions = createSessions({
    store,
    now: () => new Date('2026-11-21T07:00:00.000Z'),
    chatModel: () => 'chat-model',
  })
  const ann = { all: false, userId: 'ann' }
  for (const [id, title] of [
    ['one', 'The zanzibarquay'],
    ['other', 'The zanzibarlofoten'],
  ] as const)
    await sessions.create(NewSession.parse({ id, title }), { userId: 'ann', source: 'platform' })
  const holds = async (word: string) => {
    const { rows } = await sql<{ block: Uint8Array }>`select block from session_words_data`.execute(store.db)
    return rows.some(({ block }) => Buffer.from(block).includes(word))
  }
  assert.deepEqual([await holds('quay'), await holds('lofoten')], [true, true])
  await sessions.remove('one', ann)
  assert.deepEqual([await holds('quay'), await holds('lofoten')], [false, true])
  assert.equal((await sessions.search({ q: 'zanzibarlofoten', limit: 5 }, ann)).results.length, 1)
  await store.close()
})

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
