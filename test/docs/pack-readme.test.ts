import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, describe, it } from 'node:test'
import { absoluteLinks, relativeLinks } from '../../scripts/docs/absolute-links.ts'

const manifest = JSON.parse(readFileSync('package.json', 'utf8'))

describe('README.md in the package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-pack-readme-'))
  after(() => rmSync(folder, { recursive: true, force: true }))

  it('has absolute links, and is as it was in the tree afterwards', () => {
    const script = (name: string) =>
      (manifest.scripts[name] as string)
        .replace('npm run --silent build && ', '')
        .replace('tsx ', `"${resolve('node_modules/.bin/tsx')}" `)
        .replace('scripts/', `${resolve('scripts')}/`)
    const scripts = { prepack: script('prepack'), postpack: script('postpack') }
    const { repository } = manifest
    writeFileSync(
      join(folder, 'package.json'),
      JSON.stringify({ name: 'packed', version: '1.0.0', repository, files: [], scripts }),
    )
    cpSync('README.md', join(folder, 'README.md'))
    execFileSync('npm', ['pack'], { cwd: folder, stdio: ['ignore', 'ignore', 'ignore'] })
    execFileSync('tar', ['xzf', 'packed-1.0.0.tgz'], { cwd: folder })
    const packed = readFileSync(join(folder, 'package/README.md'), 'utf8')
    const links = [...packed.matchAll(/\]\(([^)]+)\)/g)].map(([, target = '']) => target)
    assert.ok(links.length > 20, `there are ${links.length} links`)
    const pictures = [...packed.matchAll(/\b(?:src|srcset)="([^"]+)"/g)].map(([, target = '']) => target)
    assert.equal(pictures.length, 6)
    for (const link of [...links, ...pictures]) assert.match(link, /^https:\/\//)
    assert.ok(links.includes('https://github.com/gazeway/gazeway/blob/main/docs/README.md'), links.join('\n'))
    assert.equal(readFileSync(join(folder, 'README.md'), 'utf8'), readFileSync('README.md', 'utf8'))
  })

  it('keeps links to other sites and to its own headings, and shows pictures', () => {
    const page = '[a](docs/a.md#b) [b](#b) [c](https://example.com/c) ![d](docs/d.png) [e](mailto:ada@example.com)'
    const absolute = absoluteLinks(page, 'https://example.com/r')
    assert.equal(
      absolute,
      '[a](https://example.com/r/blob/main/docs/a.md#b) [b](#b) [c](https://example.com/c) ' +
        '![d](https://example.com/r/raw/main/docs/d.png) [e](mailto:ada@example.com)',
    )
    assert.equal(relativeLinks(absolute, 'https://example.com/r'), page)
    assert.equal(absoluteLinks(absolute, 'https://example.com/r'), absolute)
    const picture = '<source srcset="docs/d.svg"><img src="docs/l.svg">'
    const shown = absoluteLinks(picture, 'https://example.com/r')
    const raw = 'https://example.com/r/raw/main/docs'
    assert.equal(shown, `<source srcset="${raw}/d.svg"><img src="${raw}/l.svg">`)
    assert.equal(relativeLinks(shown, 'https://example.com/r'), picture)
    assert.equal(absoluteLinks(shown, 'https://example.com/r'), shown)
  })
})
