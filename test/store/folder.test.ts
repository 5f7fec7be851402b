import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { updateDocument } from '../../src/config/file.ts'
import { makeFolder } from '../../src/store/make-folder.ts'
import { openSqlite } from '../../src/store/sqlite/sqlite.ts'

describe('a folder', () => {
  const place = mkdtempSync(join(tmpdir(), 'gazeway-folder-'))
  after(() => rmSync(place, { recursive: true }))

  it('is made with those above it, for this user alone, and once', () => {
    const inner = join(place, 'a', 'b', 'c')
    for (let time = 0; time < 2; time++) makeFolder(inner)
    for (const folder of [inner, join(place, 'a')]) assert.equal(statSync(folder).mode & 0o777, 0o700)
  })

  it('is not made below a file or behind a link that leads nowhere', () => {
    writeFileSync(join(place, 'file'), 'as it was')
    assert.throws(() => makeFolder(join(place, 'file', 'a', 'b')), { code: 'ENOTDIR' })
    assert.equal(readFileSync(join(place, 'file'), 'utf8'), 'as it was')
    symlinkSync(join(place, 'nowhere'), join(place, 'link'))
    assert.throws(() => makeFolder(join(place, 'link', 'a')), { code: 'ENOENT' })
  })

  // Node's own mkdir would go round for ever in each of these.
  it('is refused at once where the system takes no folders', { skip: !existsSync('/proc/self') }, async () => {
    assert.throws(() => makeFolder('/proc/nope/a/b'), { code: 'ENOENT' })
    await assert.rejects(openSqlite('/proc/nope/gazeway.db'), {
      code: 'store_unavailable',
      message: /\/proc\/nope\/gazeway\.db cannot be opened. Check that its folder/,
    })
    await assert.rejects(
      updateDocument('/proc/nope/config.json', (document) => document),
      { code: 'store_unavailable', message: /not written \(ENOENT\); its folder must be writable/ },
    )
  })
})
