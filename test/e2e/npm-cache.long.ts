import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it, type TestContext } from 'node:test'
import { canMount, mountDisk } from '../doubles/disk.ts'
import { startRegistry } from '../doubles/npm-registry.ts'
import { finish, newPlace, watch } from './server.ts'

const { version, dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
const mounts = canMount()

describe('a machine on which npm has', () => {
  const place = newPlace({ withoutStore: true })
  const cache = join(place.home, 'cache')
  let tarball: string

  before(async () => {
    const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', place.home]
    const { code, stdout, stderr } = await finish(spawn('npm', args, { env: place.env }))
    assert.equal(code, 0, stderr)
    tarball = join(place.home, JSON.parse(stdout)[0].filename)
  })

  /** The environment of a person whose npm asks a registry that has what Gazeway needs. */
  async function person(t: TestContext) {
    const registry = await startRegistry(t, Object.keys(dependencies))
    const settings = { npm_config_registry: registry.url, npm_config_cache: cache, npm_config_update_notifier: 'false' }
    return { registry, env: { ...place.env, ...settings } }
  }

  it('an empty cache downloads what Gazeway needs, and starts it', async (t) => {
    const { registry, env } = await person(t)
    const args = ['exec', '--yes', '--no-audit', '--no-fund', '--', `file:${tarball}`, '--upstream', 'sandbox']
    const server = watch(spawn('npm', args, { cwd: place.project, env }), 120_000)
    assert.equal((await server.initialize()).serverInfo.version, version)
    server.callTool(1, 'gateway_memory_store', { key: 'from/npx', value: 1 })
    assert.equal((await server.answer(1)).result.structuredContent.created, true)
    server.child.stdin.end()
    assert.equal((await server.exit).code, 0)
    for (const name of Object.keys(dependencies))
      assert.ok(
        registry.asked.some((path) => path.startsWith(`/${name}/-/`)),
        `${name} was downloaded`,
      )
  })

  it('a read-only cache says so, and installs it by the way out that docs/README.md names', {
    skip: !mounts && 'only root with CAP_SYS_ADMIN can mount a read-only disk',
  }, async (t) => {
    const { env } = await person(t)
    const readOnly = join(place.home, 'read-only')
    mountDisk(t, readOnly, 'ro')
    const install = (...more: string[]) => {
      const args = ['install', '--global', '--prefix', join(place.home, 'prefix'), '--no-audit', '--no-fund', tarball]
      return finish(spawn('npm', [...args, ...more], { env: { ...env, npm_config_cache: readOnly } }))
    }
    const refused = await install()
    assert.notEqual(refused.code, 0)
    const [, codes = ''] = /npm cannot write its cache \(([^)]*)\)/.exec(readFileSync('docs/README.md', 'utf8')) ?? []
    const named = [...codes.matchAll(/`(E[A-Z]+)`/g)].map(([, code = '']) => code)
    assert.ok(
      named.some((code) => refused.stderr.includes(`npm error code ${code}`)),
      refused.stderr,
    )

    const installed = await install('--cache', join(place.home, 'another cache'))
    assert.equal(installed.code, 0, installed.stderr)
    const command = join(place.home, 'prefix/bin/gazeway')
    const { stdout } = await finish(spawn(command, ['--version'], { env }))
    assert.equal(stdout, `${version}\n`)
  })
})
