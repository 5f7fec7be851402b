import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createMemory, MemoryInput } from '../../src/memory/memory.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { makeDeposit } from '../../src/wallet/ledger/deposits.ts'
import { type PostgresServer, startPostgres } from '../contract/postgres-server.ts'
import { runHere } from './in-process.ts'
import { connect, newPlace, type Place, putStore } from './server.ts'

const now = () => new Date('2026-11-21T07:17:52.000Z')
const NAME = /^gazeway-\d{8}T\d{9}Z$/

const put = (store: Store, key: string, value = key) =>
  createMemory({ store, now }).store(MemoryInput.parse({ key, value }))

setFlagsFromString('--expose-gc')
/** The driver holds a file until the statements of a closed connection are collected. */
const collectGarbage = runInNewContext('gc') as () => void

/** Runs `work` on the store of a place, then closes it. */
async function inStore<T>({ data }: Place, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(`sqlite:${join(data, 'gazeway.db')}`)
  try {
    return await work(store)
  } finally {
    await store.close()
    setImmediate(collectGarbage)
  }
}

const keysIn = (place: Place) =>
  inStore(place, async (store) => {
    const rows = await store.db.selectFrom('memories').select('key').orderBy('seq').execute()
    return rows.map(({ key }) => key)
  })

/** A place whose store has a memory and a ledger. */
async function filledPlace(): Promise<Place> {
  const place = newPlace()
  putStore(place)
  const { stdout } = await runHere(place, ['key', 'create', '--name', 'ann'])
  assert.match(stdout, /^gzw_/)
  await inStore(place, async (store) => {
    await put(store, 'first')
    const { id } = await store.db.selectFrom('keys').select('id').executeTakeFirstOrThrow()
    await makeDeposit(store, { caller_id: id, amount_usd: 5, reference: 'one' }, now(), { hasFixedKey: false })
  })
  return place
}

const backupsIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => NAME.test(name))
    .sort()

describe('gazeway store backup', () => {
  it('backs up while a server writes, and restores what was there at that moment', async () => {
    const place = await filledPlace()
    const { call, client } = await connect(place, { args: ['--upstream', 'sandbox'] })
    await call('gateway_memory_store', { key: 'second', value: 'of the server' })
    const made = await runHere(place, ['store', 'backup'])
    assert.deepEqual([made.code, made.stderr], [0, ''])
    assert.match(made.stdout, /the file is sound, with rows: \d+; ledger transfers, in order: 1; head [0-9a-f]{16}\.$/m)
    await call('gateway_memory_store', { key: 'third', value: 'after it' })

    const folder = join(place.data, 'backups')
    const backup = join(folder, backupsIn(folder)[0] ?? '')
    const refused = await runHere(place, ['store', 'restore', backup])
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /is in use\. Stop all that uses it, assistants too/)
    assert.deepEqual(await keysIn(place), ['first', 'second', 'third'])

    await client.close()
    const restored = await runHere(place, ['store', 'restore', backup])
    assert.deepEqual([restored.code, restored.stderr], [0, ''])
    assert.deepEqual(await keysIn(place), ['first', 'second'])
    const old = readdirSync(place.data).find((name) => name.startsWith('gazeway.db.before-')) ?? ''
    copyFileSync(join(place.data, old), join(place.data, 'gazeway.db'))
    assert.deepEqual(await keysIn(place), ['first', 'second', 'third'], 'what was there is kept')
  })

  it('keeps as many as were asked for, for this user only, and nothing else is touched', async () => {
    const place = await filledPlace()
    const folder = join(place.project, 'kept')
    mkdirSync(join(folder, 'gazeway-20200101T000000000Z'), { recursive: true })
    mkdirSync(join(folder, 'gazeway-20200101T000000000Z.partial'))
    writeFileSync(join(folder, 'mine.txt'), 'mine')
    for (let i = 0; i < 4; i++)
      assert.equal((await runHere(place, ['store', 'backup', '--to', folder, '--keep', '2'])).code, 0)
    const [unfinished, ...backups] = backupsIn(folder)
    assert.equal(unfinished, 'gazeway-20200101T000000000Z', 'a folder that is no backup stays')
    assert.equal(backups.length, 2)
    assert.deepEqual(readdirSync(folder).sort(), ['backup.lock', unfinished, ...backups, 'mine.txt'])
    const backup = join(folder, backups[0] ?? '')
    assert.deepEqual(readdirSync(backup).sort(), ['SHA256SUMS', 'gazeway.db'])
    for (const path of [backup, join(backup, 'gazeway.db')]) assert.equal(statSync(path).mode & 0o077, 0, path)
    const refused = await runHere(place, ['store', 'backup', '--keep', '0'])
    assert.equal(refused.code, 2)
    assert.match(refused.stderr, /^gazeway: --keep: .*1/)
  })

  it('removes none when an earlier one has more of the ledger, as that of another store', async () => {
    const place = await filledPlace()
    const folder = join(place.project, 'shared')
    assert.equal((await runHere(place, ['store', 'backup', '--to', folder])).code, 0)
    const empty = newPlace()
    putStore(empty)
    const { code, stderr } = await runHere(empty, ['store', 'backup', '--to', folder, '--keep', '1'])
    assert.equal(code, 0)
    assert.match(stderr, /^No earlier backup was removed: gazeway-\d+T\d+Z has more transfers in its ledger/)
    assert.equal(backupsIn(folder).length, 2)
  })

  it('says that the disk is full, leaves no half of a backup, and the earlier ones', async (t) => {
    const place = await filledPlace()
    const folder = join(place.project, 'small')
    mkdirSync(folder)
    const size = Math.round(statSync(join(place.data, 'gazeway.db')).size * 1.6)
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'none', folder]).status !== 0)
      return t.skip('mounting is not permitted here')
    t.after(() => spawnSync('umount', ['-l', folder]))
    assert.equal((await runHere(place, ['store', 'backup', '--to', folder])).code, 0)
    const before = readdirSync(folder)
    const { code, stderr } = await runHere(place, ['store', 'backup', '--to', folder])
    assert.equal(code, 1)
    assert.match(
      stderr,
      /^gazeway: No backup was made\. The disk of .* is full: free some space\. The earlier backup is unchanged\.\n$/,
    )
    assert.deepEqual(readdirSync(folder), before)
    const [backup = ''] = backupsIn(folder)
    assert.equal((await runHere(place, ['store', 'restore', '--check', join(folder, backup)])).code, 0)
  })
})

describe('gazeway store restore', () => {
  it('finds each way in which a backup is not what was written, and writes nothing', async () => {
    const place = await filledPlace()
    writeFileSync(join(place.data, 'config.json'), '{ "log": { "level": "error" } }', { mode: 0o600 })
    await runHere(place, ['store', 'backup'])
    const folder = join(place.data, 'backups')
    const whole = join(folder, backupsIn(folder)[0] ?? '')
    const changed = (name: string, change: (copy: string) => void) => {
      const copy = join(place.project, name)
      cpSync(whole, copy, { recursive: true })
      change(copy)
      return copy
    }
    const flip = (copy: string) => {
      const file = join(copy, 'gazeway.db')
      const bytes = readFileSync(file)
      const at = bytes.indexOf('first')
      bytes[at] = 'F'.charCodeAt(0)
      writeFileSync(file, bytes)
    }
    const cases: [string, RegExp][] = [
      [changed('flipped', flip), /gazeway\.db was changed after it was written/],
      [changed('without', (copy) => rmSync(join(copy, 'config.json'))), /config\.json is missing/],
      [changed('sums', (copy) => writeFileSync(join(copy, 'SHA256SUMS'), 'x\n')), /SHA256SUMS was changed/],
      [
        changed('empty', (copy) => writeFileSync(join(copy, 'SHA256SUMS'), '')),
        /SHA256SUMS has no digest of gazeway\.db/,
      ],
      [changed('no-sums', (copy) => rmSync(join(copy, 'SHA256SUMS'))), /SHA256SUMS is missing/],
      [
        changed('added', (copy) => writeFileSync(join(copy, 'signing-key.json'), '{}')),
        /no digest of signing-key\.json/,
      ],
      [join(place.project, 'nothing'), /There is no backup at/],
      [join(place.project, 'README.md'), /not a SQLite database|is no store/],
    ]
    const before = readFileSync(join(place.data, 'gazeway.db'))
    for (const [backup, found] of cases)
      for (const flags of [['--check'], []]) {
        const { code, stderr } = await runHere(place, ['store', 'restore', backup, ...flags])
        assert.equal(code, 1, backup)
        assert.match(stderr, found)
      }
    assert.deepEqual(readFileSync(join(place.data, 'gazeway.db')), before)
    assert.deepEqual(readdirSync(whole).sort(), ['SHA256SUMS', 'config.json', 'gazeway.db'])
  })

  it('names a transfer that was changed in a file without digests', async () => {
    const place = await filledPlace()
    const copy = join(place.project, 'copy.db')
    await runHere(place, ['store', 'copy', '--to', `sqlite:${copy}`])
    const store = await openStore(`sqlite:${copy}`)
    await store.db.updateTable('ledger_transfers').set({ memo: 'changed' }).execute()
    await store.close()
    const { code, stderr } = await runHere(place, ['store', 'restore', '--check', copy])
    assert.equal(code, 1)
    assert.match(stderr, /Transfer .*: it or the transfer before it was changed/)
  })

  it('restores a copied file with what its log holds', async () => {
    const place = await filledPlace()
    const store = await openStore(`sqlite:${join(place.data, 'gazeway.db')}`)
    await put(store, 'in the log')
    const copy = join(place.project, 'copied.db')
    for (const end of ['', '-wal']) copyFileSync(join(place.data, `gazeway.db${end}`), copy + end)
    await store.close()
    setImmediate(collectGarbage)
    const other = newPlace({ withoutStore: true })
    const { code, stderr } = await runHere(other, ['store', 'restore', copy])
    assert.deepEqual([code, stderr], [0, ''])
    assert.deepEqual(await keysIn(other), ['first', 'in the log'])
    assert.equal(statSync(join(other.data, 'gazeway.db')).mode & 0o077, 0)
  })

  it('restores on another machine with the settings and the signing key', async () => {
    const place = await filledPlace()
    for (const name of ['config.json', 'signing-key.json']) writeFileSync(join(place.data, name), '{}', { mode: 0o600 })
    await runHere(place, ['store', 'backup', '--to', join(place.project, 'kept')])
    const backup = join(place.project, 'kept', backupsIn(join(place.project, 'kept'))[0] ?? '')
    const other = newPlace({ withoutStore: true })
    const { code, stdout } = await runHere(other, ['store', 'restore', backup])
    assert.equal(code, 0)
    assert.match(stdout, /Restored with it: config\.json, signing-key\.json\.$/m)
    assert.deepEqual(await keysIn(other), ['first'])
    assert.equal(statSync(join(other.data, 'signing-key.json')).mode & 0o077, 0)
  })
})

describe('a backup of PostgreSQL', () => {
  let server: PostgresServer | undefined
  after(() => server?.remove())

  it('is a file like that of SQLite, and is restored into an empty database only', async () => {
    server = await startPostgres()
    const [url, other] = [await server.databaseWithTables(), await server.databaseWithTables()]
    const source = await openStore(url)
    await put(source, 'on PostgreSQL')
    const setting = { path: 'log.level', value: '"error"', updated_at: now().toISOString() }
    await source.db.insertInto('settings').values(setting).execute()
    await source.close()
    const place = newPlace()
    const folder = mkdtempSync(join(place.project, 'postgres-'))
    const made = await runHere(place, ['store', 'backup', '--store', url, '--to', folder])
    assert.deepEqual([made.code, made.stderr], [0, ''])
    const backup = join(folder, backupsIn(folder)[0] ?? '')
    assert.deepEqual(readdirSync(backup).sort(), ['SHA256SUMS', 'gazeway.db'])
    const refused = await runHere(place, ['store', 'restore', backup, '--store', url])
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /already holds records \(.*memories/)
    assert.equal((await runHere(place, ['store', 'restore', backup, '--store', other])).code, 0)
    const target = await openStore(other)
    const rows = await target.db.selectFrom('memories').select('key').execute()
    await target.close()
    assert.deepEqual(rows, [{ key: 'on PostgreSQL' }])
    assert.equal(existsSync(join(place.data, 'gazeway.db')), false)
    const moved = await runHere(newPlace({ withoutStore: true }), ['store', 'restore', backup])
    assert.equal(moved.code, 0)
    assert.match(moved.stderr, /^Not in force, since a service on SQLite reads .* config\.json: log\.level\./)
  })
})
