import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { createMemory, MemoryInput, MemoryList, MemorySearch } from '../../src/memory/memory.ts'
import { copyStore } from '../../src/store/copy.ts'
import { openStore } from '../../src/store/open-store.ts'
import { driver } from '../../src/store/sqlite/driver.ts'
import { isBusy, storeError } from '../../src/store/sqlite/sqlite-errors.ts'
import type { Store } from '../../src/store/store.ts'

const folder = mkdtempSync(join(tmpdir(), 'gazeway-sqlite-'))
const NOBODY = 65534
const mounted: string[] = []
after(() => {
  for (const point of mounted) execFileSync('umount', ['-l', point])
  rmSync(folder, { recursive: true })
})

const open = (file: string) => openStore(`sqlite:${file}`)
const put = (store: Store, key: string, value: unknown = 'x') =>
  createMemory({ store, now: () => new Date() }).store(MemoryInput.parse({ key, value }))

async function storeWith(file: string, memories: number): Promise<void> {
  const store = await open(file)
  for (let i = 0; i < memories; i++) await put(store, `k${i}`, `value ${i} `.repeat(50))
  await store.close()
}

async function contents(store: Store) {
  const memory = createMemory({ store, now: () => new Date() })
  const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(store.db)
  return {
    integrity: rows[0]?.integrity_check,
    listed: (await memory.recent(MemoryList.parse({ limit: 1000 }))).items.map((item) => item.key),
    counted: (await memory.stats()).count,
    found: (await memory.search(MemorySearch.parse({ query: 'filler', limit: 100 }))).total,
  }
}

/** Mounts something on a new folder; null where this machine does not permit it. */
function mount(...what: string[]): string | null {
  const point = mkdtempSync(join(folder, 'mount-'))
  if (spawnSync('mount', [...what, point]).status !== 0) return null
  mounted.push(point)
  return point
}

describe('a damaged store', () => {
  const damages: Array<[what: string, damage: (file: string) => void]> = [
    ['cut in half', (file) => truncateSync(file, Math.floor(statSync(file).size / 2))],
    ['cut inside its first page', (file) => truncateSync(file, 700)],
    ['overwritten at its start', (file) => writeFileSync(file, 'NOT A DATABASE'.repeat(400), { flag: 'r+' })],
    ['another kind of file', (file) => writeFileSync(file, '{"memories": []}\n')],
  ]
  for (const [what, damage] of damages)
    it(`is refused and left as it was when it is ${what}`, async () => {
      const home = mkdtempSync(join(folder, 'damaged-'))
      const file = join(home, 'store.db')
      await storeWith(file, 20)
      damage(file)
      const bytes = readFileSync(file)
      await assert.rejects(open(file), (error: Error & { code: string }) => {
        assert.equal(error.code, 'store_corrupt')
        assert.ok(error.message.includes(file))
        return true
      })
      assert.deepEqual(readFileSync(file), bytes)
      // The driver ends a closed store's own log when it comes to it.
      assert.deepEqual(
        readdirSync(home).filter((name) => !/-(wal|shm)$/.test(name)),
        ['store.db'],
      )
    })
})

describe('a store that is refused', () => {
  it('is called damaged where only its text index is', async () => {
    const file = join(folder, 'index.db')
    await storeWith(file, 20)
    const database = driver.open(file)
    database.enableDefensive(false)
    for (const index of ['memories_text', 'memories_project_text'])
      database.exec(`update ${index}_data set block = x'00ff00ff00ff00ff' where id > 10`)
    database.close()
    const store = await open(file)
    const memory = createMemory({ store, now: () => new Date() })
    assert.equal(await store.check(), true)
    await assert.rejects(memory.search(MemorySearch.parse({ query: 'value' })), { code: 'store_corrupt' })
    assert.equal(await store.check(), false, 'as /health then says')
    await store.close()
  })

  it('stays as it was where a newer version has moved it forward', async () => {
    const file = join(folder, 'newer.db')
    const database = driver.open(file)
    database.exec(`create table kysely_migration (name text, timestamp text);
      insert into kysely_migration values ('999_newer', '2026-01-01')`)
    database.close()
    const bytes = readFileSync(file)
    await assert.rejects(open(file), { code: 'store_too_new' })
    assert.deepEqual(readFileSync(file), bytes)
  })
})

describe('a store that cannot be written', () => {
  it('says so when its path is a folder, or leads through a file', async () => {
    await assert.rejects(open(folder), { code: 'store_unavailable' })
    const file = join(folder, 'plain')
    writeFileSync(file, '')
    await assert.rejects(open(join(file, 'store.db')), { code: 'store_unavailable' })
  })

  it('says so on a read-only file system, and still reads what is there', async (t) => {
    const source = mkdtempSync(join(folder, 'source-'))
    await storeWith(join(source, 'store.db'), 3)
    const home = mount('--bind', source)
    if (home === null) return t.skip('mounting is not permitted here')
    execFileSync('mount', ['-o', 'remount,bind,ro', home])
    await assert.rejects(open(join(home, 'fresh.db')), { code: 'store_unavailable' })
    const store = await open(join(home, 'store.db'))
    assert.equal(await store.check(), false)
    await assert.rejects(put(store, 'new'), { code: 'store_unavailable', message: /read-only/ })
    assert.equal((await contents(store)).counted, 3)
    await store.close()
  })

  it('names a file of another user as that', async (t) => {
    if (process.geteuid?.() !== 0) return t.skip('only root can be somebody else')
    const home = mkdtempSync(join(folder, 'theirs-'))
    const file = join(home, 'store.db')
    await storeWith(file, 1)
    chmodSync(folder, 0o755)
    chownSync(home, NOBODY, NOBODY)
    process.seteuid?.(NOBODY)
    try {
      await assert.rejects(open(file), { code: 'store_unavailable', message: /belongs to another user/ })
    } finally {
      process.seteuid?.(0)
    }
  })
})

describe('a full disk', () => {
  /** Writes until the store is full, checks that nothing is half-written, and that it goes on once there is space. */
  async function fillAndGoOn(store: Store, makeSpace: () => Promise<void>) {
    const kept: string[] = []
    const fill = async () => {
      for (let i = 0; i < 2000; i++) {
        await put(store, `k${i}`, `filler ${i} `.repeat(300))
        kept.unshift(`k${i}`)
      }
    }
    await assert.rejects(fill(), { code: 'store_full' })
    assert.ok(kept.length > 0)
    await assert.rejects(put(store, 'another', 'filler '.repeat(10_000)), { code: 'store_full' })
    const expected = { integrity: 'ok', listed: kept, counted: kept.length, found: kept.length }
    assert.deepEqual(await contents(store), expected)
    await makeSpace()
    await put(store, 'after', 'filler')
    const listed = ['after', ...kept]
    assert.deepEqual(await contents(store), { ...expected, listed, counted: listed.length, found: listed.length })
    await store.close()
  }

  it('is reported, leaves nothing half-written, and is forgotten when space returns', async (t) => {
    const home = mount('-t', 'tmpfs', '-o', 'size=2m', 'tmpfs')
    if (home === null) return t.skip('mounting is not permitted here')
    const ballast = join(home, 'ballast')
    writeFileSync(ballast, Buffer.alloc(512 * 1024))
    await fillAndGoOn(await open(join(home, 'store.db')), async () => rmSync(ballast))
  })

  it('fails the health check until there is space again, whether anything is written or not', async (t) => {
    const home = mount('-t', 'tmpfs', '-o', 'size=2m', 'tmpfs')
    if (home === null) return t.skip('mounting is not permitted here')
    const store = await open(join(home, 'store.db'))
    const ballast = join(home, 'ballast')
    spawnSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=4096'])
    await assert.rejects(put(store, 'k', 'filler '.repeat(10_000)), { code: 'store_full' })
    assert.equal(await store.check(), false)
    assert.equal(await store.check(), false)
    rmSync(ballast)
    assert.equal(await store.check(), true)
    assert.equal((await store.db.selectFrom('sweeps').selectAll().execute()).length, 0)
    await store.close()
  })

  it('is reported by a copy that has room for the log alone, and before a store is opened', async (t) => {
    const file = join(folder, 'large.db')
    await storeWith(file, 1500)
    const home = mount('-t', 'tmpfs', '-o', `size=${Math.round(statSync(file).size * 1.6)}`, 'tmpfs')
    if (home === null) return t.skip('mounting is not permitted here')
    const [source, target] = [await open(file), await open(join(home, 'copy.db'))]
    await assert.rejects(copyStore(source, target), { code: 'store_full', message: /Free some space/ })
    await target.close()

    const point = mount('-t', 'tmpfs', '-o', 'size=4m', 'tmpfs') ?? assert.fail('mounting')
    await storeWith(join(folder, 'small.db'), 1)
    copyFileSync(join(folder, 'small.db'), join(point, 'store.db'))
    const ballast = join(point, 'ballast')
    spawnSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=4096'])
    await assert.rejects(open(join(point, 'store.db')), { code: 'store_full' })
    rmSync(ballast)
    const store = await open(join(point, 'store.db'))
    assert.equal((await contents(store)).counted, 1)
    await Promise.all([source.close(), store.close()])
  })

  it('is the same when the database has reached its largest size', async () => {
    const store = await open(join(folder, 'limited.db'))
    await sql`pragma max_page_count = 300`.execute(store.db)
    await fillAndGoOn(store, async () => void (await sql`pragma max_page_count = 3000`.execute(store.db)))
  })
})

describe('several connections to one file', () => {
  it('meet the schema that another one has changed', async () => {
    const file = join(folder, 'changing.db')
    const [one, other] = [await open(file), await open(file)]
    await sql`create table pairs (a integer, b integer, c integer)`.execute(one.db)
    await sql`insert into pairs values (1, 2, 3)`.execute(one.db)
    const read = async () => (await sql`select * from pairs`.execute(one.db)).rows
    assert.deepEqual(await read(), [{ a: 1, b: 2, c: 3 }])
    await sql`alter table pairs drop column b`.execute(other.db)
    await sql`alter table pairs add column d integer default 4`.execute(other.db)
    assert.deepEqual(await read(), [{ a: 1, c: 3, d: 4 }])
    await Promise.all([one.close(), other.close()])
  })

  it('wait for a lock together, 20 s at most, with health degraded; a migration waits longer', async (t) => {
    const file = join(folder, 'locked.db')
    const store = await open(file)
    const other = driver.open(file)
    t.after(() => other.close())
    other.exec('begin immediate')
    const made = join(folder, 'made-meanwhile.db')
    const bringing = driver.open(made)
    t.after(() => bringing.close())
    bringing.exec('begin immediate')
    let isOpen = false
    const opened = open(made).finally(() => {
      isOpen = true
    })
    const began = performance.now()
    const writes = Array.from({ length: 4 }, (_, i) => put(store, `k${i}`))
    const outcome = Promise.allSettled(writes)
    // What is written first takes a moment to prepare.
    while ((await store.check()) && performance.now() - began < 10_000) await delay(5)
    assert.ok(performance.now() - began < 10_000, 'it answered although nothing can be written')
    for (const result of await outcome) assert.equal(result.status, 'rejected')
    const waited = performance.now() - began
    assert.ok(waited < 40_000, `they waited ${waited} ms`)
    assert.ok(!isOpen)
    bringing.exec('rollback')
    await (await opened).close()
    other.exec('rollback')
    assert.equal(await store.check(), true)
    await put(store, 'after')
    await store.close()
  })

  it('open a store while another process writes to it', async (t) => {
    const file = join(folder, 'written.db')
    await storeWith(file, 1)
    const other = driver.open(file)
    t.after(() => other.close())
    other.exec('begin immediate')
    const store = await open(file)
    assert.equal((await contents(store)).counted, 1)
    other.exec('rollback')
    await store.close()
  })

  it('do not say that they answer when the file is gone', async () => {
    const home = mkdtempSync(join(folder, 'gone-'))
    const store = await open(join(home, 'store.db'))
    assert.equal(await store.check(), true)
    rmSync(home, { recursive: true })
    assert.equal(await store.check(), false)
    await store.close()
  })

  it('are not kept out by one that was closed in the middle of a write', async () => {
    const file = join(folder, 'left.db')
    const [one, other] = [await open(file), await open(file)]
    const written = one.write(async (trx) => {
      await sql`insert into spending (owner, day, charged_micros, recorded_micros) values ('a', '2026-11-21', 1, 0)`.execute(
        trx,
      )
      await one.close()
    })
    await assert.rejects(written, /closed|finalized/)
    await put(other, 'next')
    assert.deepEqual(await other.db.selectFrom('spending').selectAll().execute(), [])
    await other.close()
  })
})

it('an error of the disk is not taken for a full one while there is room', () => {
  const refused = (errstr: string) => Object.assign(new Error(errstr), { code: 'ERR_SQLITE_ERROR', errstr })
  assert.ok(isBusy(refused('database is locked')))
  const constraint = refused('constraint failed')
  assert.equal(storeError(constraint, join(folder, 'name')), constraint)
  const fault = storeError(refused('disk I/O error'), join(folder, 'name')) as { code: string }
  assert.equal(fault.code, 'store_unavailable')
})

describe('numbers', () => {
  it('of any size that JavaScript holds exactly are integers, and come back as they were', async () => {
    const store = await open(join(folder, 'numbers.db'))
    for (const number of [0, -1, 2 ** 31, -(2 ** 31) - 1, 2 ** 40, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]) {
      const { rows } = await sql`select ${number} as value, typeof(${number}) as type`.execute(store.db)
      assert.deepEqual(rows, [{ value: number, type: 'integer' }])
    }
    const { rows } = await sql`select ${1e300} as large, ${0.1} as small`.execute(store.db)
    assert.deepEqual(rows, [{ large: 1e300, small: 0.1 }])
    await store.close()
  })
})
