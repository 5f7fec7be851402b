import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { build } from 'esbuild'
import { bundle } from '../../scripts/bundle.ts'
import { thirdPartyLicenses } from '../../scripts/third-party-licenses.ts'

/** The parts of the file that name packages, each above a text: `NAME VERSION (LICENCE)`. */
const TITLE = /^(\S+ \d+\.\d+\.\S+) \(([\w.-]+)\)$/gm
const RULE = `\n\n${'-'.repeat(80)}\n\n`

describe('THIRD-PARTY-LICENSES', () => {
  const [, ...sections] = readFileSync('THIRD-PARTY-LICENSES', 'utf8').split(RULE)
  const named = sections.flatMap((section) => [...section.matchAll(TITLE)].map(([, title]) => title ?? ''))

  it('names every package in the command and the console, and no other', async () => {
    const { metafile } = await build({ ...bundle, write: false })
    const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs))
    const packages = inputs.flatMap(([path, { bytesInOutput }]) => {
      const end = path.lastIndexOf('node_modules/') + 'node_modules/'.length
      if (bytesInOutput === 0 || end < 'node_modules/'.length) return []
      const [first = '', second = ''] = path.slice(end).split('/')
      const folder = path.slice(0, end) + (first.startsWith('@') ? `${first}/${second}` : first)
      const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
      return [`${name} ${version}`]
    })
    const inConsole = [...readFileSync('dist/console/licenses.md', 'utf8').matchAll(/^## (\S+) - (\S+) \(/gm)]
    const bundled = new Set([...packages, ...inConsole.map(([, name, version]) => `${name} ${version}`)])
    assert.ok(inConsole.length > 3 && packages.length > 70)
    assert.deepEqual(named.sort(), [...bundled].sort())
  })

  it('has the text of each licence', () => {
    for (const section of sections) {
      const [titles = '', ...text] = section.split('\n\n')
      assert.match(text.join('\n\n'), /permi(ssion|tted)|Apache License|Blue Oak|public domain/i, titles)
    }
  })

  it('is not written where a package brings the text of its licence nowhere', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'gazeway-licenses-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const bare = join(folder, 'node_modules', 'bare')
    mkdirSync(bare, { recursive: true })
    writeFileSync(join(bare, 'package.json'), '{"name":"bare","version":"1.0.0","license":"MIT"}')
    assert.throws(() => thirdPartyLicenses([join(bare, 'index.js')]), /bare 1\.0\.0 .* text/)
    writeFileSync(join(bare, 'readme.md'), '# Bare\n\n## License\n\nCopyright Ada. Permission is granted.\n')
    assert.match(thirdPartyLicenses([join(bare, 'index.js')]), /bare 1\.0\.0 \(MIT\)\n\nCopyright Ada/)
  })
})
