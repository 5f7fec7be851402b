import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { DatabaseSync } from '@photostructure/sqlite'
import { spaceSweep } from '../../src/store/free-space.ts'
import { openStore } from '../../src/store/open-store.ts'
import { vacuumInto } from '../../src/store/sqlite/whole-file.ts'
import type { Store } from '../../src/store/store.ts'

describe('the space of a SQLite file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-space-'))
  after(() => rmSync(folder, { recursive: true, force: true }))

  /** Stores 24 MB of rows, and deletes them again. */
  async function fillAndEmpty(store: Store) {
    const body = 'x'.repeat(8_000)
    const expires_at = new Date().toISOString()
    await store.write(async (trx) => {
      for (let i = 0; i < 3_000; i++)
        await trx
          .insertInto('reasoning_states')
          .values({ reference: `r${i}`, sealed: body, expires_at })
          .execute()
    })
    await store.db.deleteFrom('reasoning_states').execute()
  }

  /** Runs the sweep until nothing is left to give back. @returns its batches */
  async function sweep(store: Store): Promise<number> {
    const { batch } = spaceSweep(store)
    for (let batches = 1; ; batches++) if ((await batch(500)) < 500) return batches
  }

  it('is given back in small batches while another connection writes, but for a reserve', async () => {
    const file = join(folder, 'new.db')
    const [store, other] = [await openStore(`sqlite:${file}`), await openStore(`sqlite:${file}`)]
    await fillAndEmpty(store)
    const before = statSync(file).size
    assert.ok(before > 20_000_000)
    const swept = sweep(store)
    for (let i = 0; i < 20; i++)
      await other.db
        .insertInto('settings')
        .values({ path: `p${i}`, value: '1', updated_at: '' })
        .execute()
    assert.ok((await swept) > 20)
    await Promise.all([store.close(), other.close()])
    const after = statSync(file).size
    assert.ok(after < 8_000_000 && after > 4_000_000, `${after} of ${before}`)
    const database = new DatabaseSync(file, { readOnly: true })
    assert.deepEqual({ ...database.prepare('pragma integrity_check').get() }, { integrity_check: 'ok' })
    assert.equal(database.prepare('select count(*) as count from settings').get()?.count, 20)
    database.close()
  })

  it('is left as it is in a file of before, whose copy gives it back', async () => {
    const file = join(folder, 'old.db')
    const old = new DatabaseSync(file)
    old.exec('pragma auto_vacuum = none; create table first (a); drop table first')
    old.close()
    const store = await openStore(`sqlite:${file}`)
    await fillAndEmpty(store)
    assert.equal(await sweep(store), 1)
    const copy = join(folder, 'copy.db')
    vacuumInto(file, copy)
    await store.close()
    assert.ok(statSync(copy).size < 3_000_000)
    const copied = await openStore(`sqlite:${copy}`)
    await fillAndEmpty(copied)
    assert.ok((await sweep(copied)) > 20)
    await copied.close()
  })
})
