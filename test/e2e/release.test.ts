import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { imageFaults, workflowFaults } from '../../scripts/release/lint.ts'
import { agreedVersion, notesOf } from '../../scripts/release/versions.ts'
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

  it('refuses a tag that is not the version, and makes nothing', async () => {
    const out = join(place.home, 'refused')
    const args = [...scriptArgs('scripts/release.ts'), '--built', '--tag', 'v9.9.9', '--out', out]
    const { code, stderr } = await finish(spawn(process.execPath, args, { env: { ...process.env, ...place.env } }))
    assert.notEqual(code, 0)
    assert.ok(stderr.includes(`the tag is v9.9.9, and should be v${version}`), stderr)
    assert.ok(!readdirSync(place.home).includes('refused'))
  })
})

describe('agreedVersion', () => {
  it('is the version of the package, of which all files speak', () => {
    assert.equal(agreedVersion(`v${version}`), version)
  })
})

describe('notesOf', () => {
  const changelog = '# Changelog\n\n## 0.2.0\n\n### Minor Changes\n\n- A door.\n\n## 0.1.0\n\n- All.\n\n## 0.0.9\n\n'

  it('reads the section of a version', () => {
    assert.equal(notesOf('0.2.0', changelog), '### Minor Changes\n\n- A door.\n')
    assert.equal(notesOf('0.1.0', changelog), '- All.\n')
  })

  it('refuses a version without notes', () => {
    for (const missing of ['0.1', '0.3.0', '0.0.9'])
      assert.throws(() => notesOf(missing, changelog), new RegExp(`no notes of ${missing}`))
  })
})

describe('what a release is made by', () => {
  const place = newPlace({ withoutStore: true })

  it('has no fault that actionlint or the language server of Docker knows', async () => {
    assert.deepEqual([...(await workflowFaults()), ...imageFaults()], [])
  })

  it('is not taken with a fault', async () => {
    const folder = join(place.home, 'workflows')
    mkdirSync(folder)
    const steps = 'steps:\n      - run: echo ${{ github.event.issue.title }}\n      - run: echo ${{ matrix.os }}\n'
    writeFileSync(
      join(folder, 'a.yml'),
      `on: push\njobs:\n  one:\n    needs: two\n    runs-on: ubuntu-latest\n    ${steps}`,
    )
    const faults = await workflowFaults(folder)
    assert.match(faults.join('\n'), /a\.yml:3: .*"two"/)
    assert.match(faults.join('\n'), /a\.yml:7: .*untrusted/)
    const image = join(place.home, 'Dockerfile')
    writeFileSync(image, 'FROM node:24\nCOPPY . .\n')
    assert.match(imageFaults(image).join('\n'), /Dockerfile:2: .*COPPY/)
  })

  it('gives no workflow more than it needs', () => {
    for (const name of readdirSync('.github/workflows')) {
      const text = readFileSync(join('.github/workflows', name), 'utf8')
      assert.match(text, /^permissions:\n {2}contents: read\n/m, `${name} may only read, but for jobs that say more`)
      assert.doesNotMatch(text, /NPM_TOKEN|NODE_AUTH_TOKEN/, name)
    }
  })

  it('runs each action by the digest of a release, which nobody can move to other code', () => {
    for (const name of readdirSync('.github/workflows'))
      for (const [, action] of readFileSync(join('.github/workflows', name), 'utf8').matchAll(/\buses: (.*)$/gm))
        assert.match(action ?? '', /^(\.\/\.github\/|[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$)/, name)
  })

  it('publishes nothing from a fork', () => {
    const text = readFileSync('.github/workflows/release.yml', 'utf8')
    const jobs = text
      .slice(text.indexOf('\njobs:\n'))
      .split(/^ {2}(?=\w+:$)/m)
      .slice(1)
    const free = jobs.filter(
      (job) => !job.includes("if: github.repository == 'gazeway/gazeway'") && !job.includes('needs:'),
    )
    assert.deepEqual(
      free.map((job) => job.split(':', 1)[0]),
      ['fork'],
    )
  })
})
