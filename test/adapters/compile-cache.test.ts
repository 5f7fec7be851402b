import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { compileCacheFolder } from '../../adapters/command/compile-cache.ts'

describe('the folder of compiled code', () => {
  it('is below the data folder, however that is named, once it is there', (t) => {
    const data = mkdtempSync(join(tmpdir(), 'gazeway-compiled-'))
    t.after(() => rmSync(data, { recursive: true }))
    const kept = join(data, 'compile-cache')
    assert.equal(compileCacheFolder(['--http', '--data', data], {}), kept)
    assert.equal(compileCacheFolder([`--data=${data}`], { GAZEWAY_HOME: '/elsewhere' }), kept)
    assert.equal(compileCacheFolder([], { GAZEWAY_HOME: data }), kept)
    assert.equal(compileCacheFolder(['--data', join(data, 'none')], {}), null)
    assert.equal(compileCacheFolder(['--data', ''], {}), null)
    assert.equal(compileCacheFolder(['--data'], { GAZEWAY_HOME: join(data, 'none') }), null)
  })
})
