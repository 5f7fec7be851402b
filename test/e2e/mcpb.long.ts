import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { getMcpConfigForManifest, unpackExtension } from '@anthropic-ai/mcpb'
import { KEY_VARIABLES } from '../../src/providers/providers.ts'
import { tools } from '../../tools/index.ts'
import { scriptArgs } from '../doubles/script.ts'
import { newPlace, watch } from './server.ts'

describe('gazeway.mcpb', () => {
  const place = newPlace()
  const bundle = join(place.home, 'gazeway.mcpb')
  const folder = join(place.home, 'unpacked')

  before(async () => {
    execFileSync(process.execPath, [...scriptArgs('scripts/make-mcpb.ts'), bundle], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    assert.ok(await unpackExtension({ mcpbPath: bundle, outputDir: folder, silent: true }), 'it can be unpacked')
  })

  it('holds what the server needs on each platform, and little more', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
    const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
    assert.equal(manifest.version, version)
    assert.deepEqual(
      manifest.tools.map(({ name }: { name: string }) => name),
      tools.map(({ name }) => name),
    )
    assert.ok(statSync(bundle).size < 20_000_000, `${statSync(bundle).size} bytes`)
  })

  it('starts as its manifest says, and remembers', async () => {
    const config = await getMcpConfigForManifest({
      manifest: JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')),
      extensionPath: folder,
      systemDirs: { HOME: place.home, DESKTOP: place.home, DOCUMENTS: place.home, DOWNLOADS: place.home },
      userConfig: { upstream: 'sandbox' },
      pathSeparator: '/',
    })
    const { command = '', args = [], env = {} } = config ?? {}
    assert.equal(command, 'node')
    assert.deepEqual(env, { GAZEWAY_UPSTREAM: 'sandbox', GAZEWAY_UPSTREAM_API_KEY: '' })
    for (const name of KEY_VARIABLES) assert.ok(!(name in env), name)
    const server = watch(spawn(process.execPath, args, { cwd: place.project, env: { ...place.env, ...env } }))
    await server.initialize()
    server.callTool(1, 'gateway_memory_store', { key: 'kept', value: 1 })
    assert.equal((await server.answer(1)).result.structuredContent.created, true)
    server.callTool(2, 'gateway_chat_completion', { messages: [{ role: 'user', content: 'Hello' }] })
    assert.equal((await server.answer(2)).result.structuredContent.upstream, 'sandbox')
    server.child.stdin.end()
    assert.equal((await server.exit).code, 0)
  })
})
