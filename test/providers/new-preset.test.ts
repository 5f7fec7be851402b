import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { bundleTests } from '../../scripts/bundle-tests.ts'
import type { Preset } from '../../src/providers/preset.ts'
import type { startInstance } from '../config/instance.ts'

const TREE = ['adapters', 'bench', 'docs', 'plugin', 'scripts', 'src', 'test', 'tools', 'package.json', 'tsconfig.json']
const PAGES = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'LICENSE', 'Dockerfile', 'deploy']
const MANIFESTS = ['mcp.example.json', 'server.json']
/** Programs of these sources, bundled once: tsx would take seconds to load each. */
const PROGRAMS = [
  'adapters/command/cli',
  'scripts/docs',
  'src/config/check-config',
  'src/config/config',
  'src/inference/upstreams/create-provider',
  'src/inference/upstreams/missing-key',
  'test/config/instance',
]

const example: Preset = {
  name: 'example',
  label: 'Example Models',
  baseUrl: 'https://api.example.com/v1',
  protocol: 'openai',
  key: { variable: 'EXAMPLE_MODELS_KEY', page: 'https://example.com/keys' },
  roles: { chat: 'example-chat-1' },
  pricedFields: { fields: {} },
  models: {
    'example-chat-1': { prices: { input: 7.25, output: 9 }, source: 'https://example.com/prices', date: '2026-11-24' },
  },
}

/** The sources with one preset more, added as CONTRIBUTING.md says: one file, and one line in the index. */
describe('a new preset', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'gazeway-preset-')))
  const at = (path: string) => join(folder, path)
  const read = (path: string) => readFileSync(at(path), 'utf8')
  const programOf = (name: string) => at(`bundled/${name}.js`)
  const load = (name: string) => import(pathToFileURL(programOf(name)).href)
  const run = (name: string, ...args: string[]) =>
    promisify(execFile)(process.execPath, [programOf(name), ...args], { cwd: folder })

  before(async () => {
    for (const name of [...TREE, ...PAGES, ...MANIFESTS]) cpSync(name, at(name), { recursive: true })
    symlinkSync(resolve('node_modules'), at('node_modules'))
    const record = `import type { Preset } from './preset.ts'\nexport const example: Preset = ${JSON.stringify(example)}\n`
    writeFileSync(at('src/providers/example.ts'), record)
    const index = read('src/providers/providers.ts').replace(/= \[\s*xai,/, '= [xai, example,')
    assert.match(index, /\[xai, example,/)
    writeFileSync(at('src/providers/providers.ts'), `import { example } from './example.ts'\n${index}`)
    const entryPoints = Object.fromEntries(PROGRAMS.map((name) => [name, `${name}.ts`]))
    await build({ ...bundleTests([]), absWorkingDir: folder, entryPoints, outdir: 'bundled' })
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  it('is taken by the configuration, with the key from its own variable', async () => {
    const { loadConfig } = await load('src/config/config')
    const env = { GAZEWAY_UPSTREAM: 'example', EXAMPLE_MODELS_KEY: 'key-of-example' }
    const { config } = await loadConfig({ env, flags: {}, cwd: folder })
    assert.equal(config.upstream.provider, 'example')
    assert.equal(config.upstream.api_key, 'key-of-example')
    await assert.rejects(loadConfig({ env: { GAZEWAY_UPSTREAM: 'exampel' }, flags: {}, cwd: folder }), /xai, example, /)
  })

  it('is where calls go, with its own ids of models', async () => {
    const { createProvider } = await load('src/inference/upstreams/create-provider')
    const { checkConfig } = await load('src/config/check-config')
    const { missingKey } = await load('src/inference/upstreams/missing-key')
    const { upstream } = checkConfig({ upstream: { provider: 'example' } }).data
    const { name, baseUrl, resolve } = createProvider(upstream)
    assert.deepEqual([name, baseUrl], ['example', 'https://api.example.com/v1'])
    assert.equal(resolve(undefined, 'chat').upstream, 'example-chat-1')
    assert.match(missingKey(upstream), /set EXAMPLE_MODELS_KEY /)
  })

  it('is named by --help', async () => {
    const { stdout } = await run('adapters/command/cli', '--help')
    assert.match(stdout.replace(/\s+/g, ' '), /model provider: xai, example, /)
  })

  it('makes the check of the generated files fail, and is in each of them after npm run docs', async () => {
    const files = ['docs/reference/upstream.md', 'docs/reference/configuration.md', 'mcp.example.json', 'server.json']
    await assert.rejects(run('scripts/docs', '--check'), ({ stderr }) => {
      for (const file of files) assert.ok(stderr.includes(`${file} is behind`), file)
      return true
    })
    await run('scripts/docs')
    for (const file of files) assert.match(read(file), /EXAMPLE_MODELS_KEY/, file)
    const upstream = read('docs/reference/upstream.md')
    assert.match(upstream, /\| `example` \| Example Models \| `https:\/\/api\.example\.com\/v1` \|/)
    assert.match(upstream, /`example-chat-1` \| \$7\.25 \| unknown \| unknown \| unknown \| \$9 \|/)
    assert.match(read('docs/reference/configuration.md'), /xai, example, /)
    assert.match(read('server.json'), /Model provider: xai, example, /)
    await run('scripts/docs', '--check')
  })

  it('is offered by the console under its label, with whether its key is there', async () => {
    const instances: { startInstance: typeof startInstance } = await load('test/config/instance')
    const instance = await instances.startInstance({ env: { EXAMPLE_MODELS_KEY: 'key-of-example' } })
    try {
      const headers = { authorization: `Bearer ${instance.admin}` }
      const reply = await fetch(`${instance.platformUrl}/api/available-models?provider=example`, { headers })
      const { providers, models } = (await reply.json()) as Record<
        'providers' | 'models',
        { id: string; description?: string }[]
      >
      const offered = providers.find(({ id }) => id === 'example')
      assert.deepEqual(offered, { id: 'example', label: 'Example Models', authenticated: true })
      assert.deepEqual(
        models.map(({ id, description }) => [id, description]),
        [['llm-3-fast', 'example-chat-1']],
      )
    } finally {
      await instance.close()
    }
  })
})
