import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { driver, isRecent } from '../../src/store/sqlite/driver.ts'
import { openSqlite } from '../../src/store/sqlite/sqlite.ts'

const run = promisify(execFile)

describe('the driver for SQLite', () => {
  it("is Node's own where its SQLite is 3.51.3 or later, and the package's elsewhere", () => {
    const versions = {
      '3.51.3': true,
      '3.53.0': true,
      '4.0.0': true,
      '3.51.2': false,
      '3.50.9': false,
      '2.99.9': false,
    }
    for (const [version, expected] of Object.entries(versions)) assert.equal(isRecent(version), expected, version)
    assert.equal(isRecent(undefined), false)
    const expected = isRecent(process.versions.sqlite) ? 'node:sqlite' : '@photostructure/sqlite'
    assert.equal(driver.name, expected)
  })

  it('binds whole numbers as integers, and others as floats', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'gazeway-driver-'))
    const store = await openSqlite(join(folder, 'numbers.db'))
    t.after(async () => {
      await store.close()
      rmSync(folder, { recursive: true })
    })
    const { rows } = await sql<Record<string, string>>`
      select typeof(${1}) as small, typeof(${-3}) as negative, typeof(${2 ** 40}) as large, typeof(${0.5}) as half
    `.execute(store.db)
    assert.deepEqual(rows, [{ small: 'integer', negative: 'integer', large: 'integer', half: 'real' }])
  })

  it('loads without a warning on stderr', async () => {
    const code = `await import(${JSON.stringify(pathToFileURL(resolve('src/store/sqlite/driver.ts')).href)})`
    const { stderr } = await run(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code])
    assert.equal(stderr, '')
  })
})
