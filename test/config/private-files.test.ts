import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { exposedFiles } from '../../src/config/private-files.ts'

describe('a data folder', () => {
  it('is warned of where others can read or enter it, and its config.json with it', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'gazeway-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const config = join(folder, 'config.json')
    writeFileSync(config, '{}', { mode: 0o644 })
    assert.equal(exposedFiles(folder), null, 'nobody gets past a folder of mode 0700')
    for (const mode of [0o750, 0o705, 0o711]) {
      chmodSync(folder, mode)
      assert.match(exposedFiles(folder) ?? '', /config\.json.*chmod go= ".*"; chmod go= ".*config\.json"/)
    }
    chmodSync(config, 0o600)
    const warning = exposedFiles(folder) ?? ''
    assert.ok(warning.includes(folder) && !warning.includes('config.json'), warning)
    assert.equal(exposedFiles(join(folder, 'gone')), null)
  })
})
