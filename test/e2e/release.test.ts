import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { imageFaults, workflowFaults } from '../../scripts/release/lint.ts'
import { agreedVersion, notesOf } from '../../scripts/release/versions.ts'
import { scriptArgs } from '../doubles/script.ts'
import { finish, newPlace } from './server.ts'

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))

describe('the dry run of a release', () => {
  const place = newPlace({ withoutStore: true })

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

  it('runs no program that it downloads before its digest is checked', () => {
    const downloads = readdirSync('.github/workflows').flatMap((name) =>
      readFileSync(join('.github/workflows', name), 'utf8')
        .split(/^ {6}- /m)
        .filter((step) => /\bcurl\b/.test(step)),
    )
    assert.equal(downloads.length, 1)
    for (const step of downloads) {
      assert.match(step, /sha256sum --check/)
      assert.ok(step.indexOf('sha256sum') < step.indexOf('tar xzf'), 'it is checked before it is unpacked')
      assert.doesNotMatch(step, /\bcurl\b.*\|/, 'it is no pipe')
    }
    const text = readFileSync('.github/workflows/release.yml', 'utf8')
    assert.match(text, /^ {6}PUBLISHER_SHA256: [0-9a-f]{64}$/m)
    assert.match(text, /^ {6}PUBLISHER: https:\/\/.*\/download\/v\d+\.\d+\.\d+\//m)
    assert.doesNotMatch(text, /releases\/latest/)
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
