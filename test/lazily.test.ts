import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { GazewayError } from '../src/errors.ts'
import { lazily, whenCodeIsGone } from '../src/lazily.ts'

const missing = () => Object.assign(new Error('Cannot find module /secret/place'), { code: 'ERR_MODULE_NOT_FOUND' })

describe('code that is loaded late', () => {
  it('is loaded once', async () => {
    let loads = 0
    const load = lazily(async () => ++loads)
    assert.deepEqual([await load(), await load(), loads], [1, 1, 1])
  })

  it('is loaded again after it could not be', async () => {
    let loads = 0
    const load = lazily(async () => {
      loads++
      if (loads < 3) throw missing()
      return loads
    })
    assert.equal(await load(), 3)
    let fails = true
    const other = lazily(async () => {
      if (fails) throw new Error('It does not run yet.')
      return 'runs'
    })
    await assert.rejects(other(), /does not run yet/)
    fails = false
    assert.equal(await other(), 'runs')
  })

  it('ends the process when it is gone for good, and names no path', async () => {
    const ended: GazewayError[] = []
    whenCodeIsGone((error) => ended.push(error))
    const load = lazily(async () => {
      throw missing()
    })
    await assert.rejects(load(), (error: GazewayError) => {
      assert.deepEqual(ended, [error])
      assert.equal(error.code, 'service_stopping')
      assert.doesNotMatch(error.message, /secret/)
      return true
    })
  })

  it('has no other way in a process that stays', () => {
    // Commands load their code at their start, and the console's pages are a browser's.
    const elsewhere = /^adapters\/(command|console\/web)\/|^src\/(lazily|wire\/thread)\.ts$/
    const sources = ['src', 'tools', 'adapters'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    )
    const late = sources
      .filter((file) => file.endsWith('.ts') && !elsewhere.test(file))
      .filter((file) => /(?<!typeof )\bimport\('[^']+'\)(?!\.)/.test(readFileSync(file, 'utf8')))
    assert.ok(late.length > 10)
    assert.deepEqual(
      late.filter((file) => !readFileSync(file, 'utf8').includes('= lazily(')),
      [],
    )
  })
})
