import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { scriptArgs } from '../doubles/script.ts'
import { finish, newPlace } from './server.ts'
import { type ServedSite, serveSite, WITHOUT_BROWSER } from './site.ts'

const sha256 = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')
const { version } = JSON.parse(readFileSync('package.json', 'utf8'))

const SITE_PAGES = [
  'index.html',
  'guides/memory.html',
  'reference/http.html',
  'reference/attention.html',
  'benchmarks.html',
]
/** Bound of what the first load of a page takes, compressed, pictures apart, in bytes. It loads pages ahead that it links to. */
const MOST_OF_A_PAGE = 260_000

describe('the dry run of a release', () => {
  const place = newPlace({ withoutStore: true })

  it('makes every file that a release has, with their sums and its notes', async () => {
    const out = join(place.home, 'release')
    const args = [...scriptArgs('scripts/release.ts'), '--built', '--tag', `v${version}`, '--out', out]
    const { code, stderr } = await finish(spawn(process.execPath, args, { env: { ...process.env, ...place.env } }))
    assert.equal(code, 0, stderr)
    assert.deepEqual(readdirSync(out).sort(), [
      'NOTES.md',
      'SHA256SUMS',
      `gazeway-${version}.mcpb`,
      `gazeway-${version}.tgz`,
      `gazeway-plugin-${version}.tar.gz`,
      'server.json',
      'site',
    ])
    const sums = readdirSync(out).filter((name) => name !== 'SHA256SUMS' && name !== 'site')
    assert.equal(
      readFileSync(join(out, 'SHA256SUMS'), 'utf8'),
      sums.map((name) => `${sha256(join(out, name))}  ${name}\n`).join(''),
    )
    const plugin = execFileSync('tar', ['tzf', join(out, `gazeway-plugin-${version}.tar.gz`)], { encoding: 'utf8' })
    assert.match(plugin, /^gazeway\/plugin\.json$/m)
    assert.ok(readFileSync(join(out, 'NOTES.md'), 'utf8').length > 1000)
  })

  describe('has a site of the documentation', { skip: WITHOUT_BROWSER }, () => {
    let site: ServedSite
    before(async () => {
      site = await serveSite(join(place.home, 'release/site'), '/gazeway/')
    })
    after(() => site?.close())

    for (const page of SITE_PAGES)
      for (const scheme of ['light', 'dark'] as const)
        it(`in which ${page} is accessible, light and whole, in ${scheme} colours`, async () => {
          const { findings, faults, weight } = await site.look(page, scheme)
          assert.deepEqual([findings, faults], [[], []])
          assert.ok(weight > 50_000 && weight < MOST_OF_A_PAGE, `${weight} bytes`)
        })

    it('that finds a page by a word', async () => {
      const titles = await site.find('escrow')
      assert.ok(
        titles.some((title) => title.includes('Tasks and escrow')),
        titles.join('\n'),
      )
    })
  })
})
