import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { replaceFile } from '../../src/store/replace-file.ts'

describe('a file that is replaced', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-replaced-'))
  after(() => rmSync(folder, { recursive: true }))

  it('is one of those that several writers write at once, and none of them fails', async () => {
    const file = join(folder, 'shared.json')
    for (let round = 0; round < 10; round++)
      await Promise.all(Array.from({ length: 20 }, (_, i) => replaceFile(file, `${round}/${i}`)))
    assert.match(readFileSync(file, 'utf8'), /^9\/\d+$/)
    assert.deepEqual(readdirSync(folder), ['shared.json'])
  })

  it('takes what a killed writer has left with it, after a minute', async () => {
    const file = join(folder, 'own.json')
    const [old, young] = ['1.0123456789ab', '2.0123456789ab'].map((id) => `${file}.${id}.tmp`) as [string, string]
    for (const leftover of [old, young]) writeFileSync(leftover, '')
    const before = Date.now() / 1000 - 61
    utimesSync(old, before, before)
    await replaceFile(file, 'own')
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.endsWith('.tmp')),
      ['own.json.2.0123456789ab.tmp'],
    )
  })
})
