import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createKeys } from '../../src/identity/keys.ts'
import type { Store } from '../../src/store/store.ts'
import { startPeer } from './process.ts'
import { newFolder, storeIn } from './store.ts'

const keysOn = (store: Store, fixedKey: string | null = null) =>
  createKeys({ store, now: () => new Date(), fixedKey, onError: (error) => assert.ifError(error) })

describe('the first key', () => {
  it('is an admin, kept in a file that only its owner can read', async () => {
    const folder = newFolder()
    const keys = keysOn(await storeIn(folder))
    const token = await keys.ensureFirstKey({ dataDir: join(folder, 'new') })
    const file = join(folder, 'new', 'admin.key')
    assert.equal(readFileSync(file, 'utf8'), `${token}\n`)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.deepEqual(readdirSync(join(folder, 'new')), ['admin.key'])
    const { id, scopes } = await keys.authenticate(token)
    assert.deepEqual(scopes, new Set(['inference', 'platform', 'admin']))
    assert.equal(await keys.ensureFirstKey({ dataDir: join(folder, 'new') }), null)
    await keys.revoke(id)
    assert.equal(await keys.ensureFirstKey({ dataDir: join(folder, 'new') }), null)
    await keys.close()
  })

  it('is not made where there is another one', async () => {
    const folder = newFolder()
    const store = await storeIn(folder)
    assert.equal(await keysOn(store, 'a-fixed-key-of-the-environment').ensureFirstKey({ dataDir: folder }), null)
    await keysOn(store).create({ name: 'by hand' })
    assert.equal(await keysOn(store).ensureFirstKey({ dataDir: folder }), null)
    assert.ok(!readdirSync(folder).includes('admin.key'))
  })

  it('is not made where it could not be kept, and then can be made later', async () => {
    const folder = newFolder()
    const keys = keysOn(await storeIn(folder))
    writeFileSync(join(folder, 'file'), '')
    await assert.rejects(keys.ensureFirstKey({ dataDir: join(folder, 'file', 'data') }), {
      code: 'store_unavailable',
      message: /admin\.key: not written \(ENOTDIR\).*gazeway key create/,
    })
    assert.equal((await keys.list({ limit: 1 })).total, 0)
    assert.ok(await keys.ensureFirstKey({ dataDir: folder }))
  })

  it('is taken back where its file cannot be put in place, and then can be made later', async () => {
    const folder = newFolder()
    const keys = keysOn(await storeIn(folder))
    const data = join(folder, 'data')
    mkdirSync(join(data, 'admin.key', 'theirs'), { recursive: true })
    for (const _ of ['the first start', 'the next'])
      await assert.rejects(keys.ensureFirstKey({ dataDir: data }), {
        code: 'store_unavailable',
        message: /admin\.key: not written \((EISDIR|ENOTEMPTY|EEXIST)\)/,
      })
    assert.equal((await keys.list({ limit: 1 })).total, 0)
    assert.deepEqual(readdirSync(data), ['admin.key'])
    rmdirSync(join(data, 'admin.key', 'theirs'))
    rmdirSync(join(data, 'admin.key'))
    const token = await keys.ensureFirstKey({ dataDir: data })
    assert.ok((await keys.authenticate(token)).scopes.has('admin'))
    await keys.close()
  })

  it('replaces the file that another store left, and does not write through a link', async () => {
    const folder = newFolder()
    const data = join(folder, 'data')
    mkdirSync(data)
    writeFileSync(join(folder, 'elsewhere'), 'as it was')
    symlinkSync(join(folder, 'elsewhere'), join(data, 'admin.key'))
    const token = await keysOn(await storeIn(folder)).ensureFirstKey({ dataDir: data })
    assert.equal(readFileSync(join(folder, 'elsewhere'), 'utf8'), 'as it was')
    assert.equal(readFileSync(join(data, 'admin.key'), 'utf8'), `${token}\n`)
    assert.equal(statSync(join(data, 'admin.key')).mode & 0o777, 0o600)
  })

  it('is made once by four processes that start together', async () => {
    const folder = newFolder()
    const starters = Array.from({ length: 4 }, () => startPeer('starter.ts', import.meta.url, [folder]))
    for (const starter of starters) assert.equal(await starter.line(), 'ready')
    const answers = await Promise.all(starters.map((starter) => starter.ask('go')))
    const tokens = answers.filter((answer) => answer !== 'none')
    assert.equal(tokens.length, 1, answers.join())
    assert.equal(readFileSync(join(folder, 'admin.key'), 'utf8'), `${tokens[0]}\n`)
    const keys = keysOn(await storeIn(folder))
    assert.equal((await keys.list({ limit: 10 })).total, 1)
    assert.equal((await keys.authenticate(tokens[0] ?? null)).scopes.has('admin'), true)
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.endsWith('.tmp')),
      [],
    )
    await keys.close()
  })
})
