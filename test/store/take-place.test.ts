import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, describe, it } from 'node:test'
import { takePlace } from '../../adapters/command/store-restore.ts'

describe('a restored store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-place-'))
  after(() => rmSync(folder, { recursive: true }))
  const [file, old, copy] = [join(folder, 'gazeway.db'), join(folder, 'gazeway.db.before'), join(folder, 'restoring')]
  const places = () => [file, old, copy].map((path) => (existsSync(path) ? readFileSync(path, 'utf8') : null))

  beforeEach(() => {
    for (const path of [file, old, copy]) rmSync(path, { recursive: true, force: true })
    writeFileSync(file, 'present')
    writeFileSync(copy, 'restored')
  })

  for (const [platform, atRelease] of [
    ['win32', ['present', null, 'restored']],
    ['linux', ['restored', 'present', null]],
  ] as const)
    it(`takes the place of the present one, whose lock ends ${platform === 'win32' ? 'before, on Windows' : 'after'}`, async () => {
      const released: unknown[] = []
      await takePlace(copy, { file, old, release: () => void released.push(places()) }, platform)
      assert.deepEqual(released, [atRelease])
      assert.deepEqual(places(), ['restored', 'present', null])
    })

  for (const platform of ['win32', 'linux'] as const)
    it(`that cannot take the place leaves the present one there, and unlocked (${platform})`, async () => {
      rmSync(copy)
      let released = 0
      await assert.rejects(takePlace(copy, { file, old, release: () => void released++ }, platform), { code: 'ENOENT' })
      assert.deepEqual([places(), released], [['present', null, null], 1])
    })

  for (const platform of ['win32', 'linux'] as const)
    it(`that cannot take the place says where the present one is when it cannot be moved back (${platform})`, async () => {
      let released = 0
      const taken = takePlace(copy, { file, old, release: () => void released++ }, platform)
      // The event loop stands still, so that the place is taken before the next step.
      while (!existsSync(old));
      mkdirSync(join(file, 'of another program'), { recursive: true })
      await assert.rejects(
        taken,
        ({ code, message }) => code === 'store_unavailable' && message.includes(`is ${old} now`),
      )
      assert.deepEqual([readFileSync(old, 'utf8'), released], ['present', 1])
    })
})
