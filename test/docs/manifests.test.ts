import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import * as z from 'zod'
import { VARIABLES } from '../../src/config/environment.ts'
import { KEY_VARIABLES } from '../../src/providers/providers.ts'
import { AgentPlugin, AgentPluginServers } from './agent-plugins-schema.ts'
import { expanded, start } from './entry.ts'

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'))
const manifest = read('package.json')

/** Server description of the MCP registry for a stdio package (schema of 2025-12-11). */
const ServerDescription = z.object({
  $schema: z.url(),
  name: z
    .string()
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/)
    .min(3)
    .max(200),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  version: z.string().regex(/^\d+\.\d+\.\d+(-[\w.]+)?$/),
  packages: z.tuple([
    z.strictObject({
      registryType: z.literal('npm'),
      identifier: z.string(),
      version: z.string(),
      runtimeHint: z.literal('npx'),
      transport: z.strictObject({ type: z.literal('stdio') }),
      environmentVariables: z.array(
        z.strictObject({
          name: z.string(),
          description: z.string().min(1),
          isSecret: z.boolean().optional(),
          default: z.string().optional(),
          choices: z.array(z.string()).optional(),
          format: z.enum(['string', 'number', 'boolean', 'filepath']).optional(),
        }),
      ),
    }),
  ]),
})

describe('server.json', () => {
  it('is a description that a registry takes', () => {
    ServerDescription.strict().parse(read('server.json'))
  })

  it('names the package as package.json does', () => {
    const { name, version, packages } = ServerDescription.parse(read('server.json'))
    assert.equal(name, manifest.mcpName)
    assert.equal(version, manifest.version)
    assert.equal(packages[0].identifier, manifest.name)
    assert.equal(packages[0].version, manifest.version)
  })

  it('names variables that are read, and marks the keys as secret', () => {
    const known = [...Object.keys(VARIABLES), ...KEY_VARIABLES, 'GAZEWAY_HOME']
    const { environmentVariables } = ServerDescription.parse(read('server.json')).packages[0]
    for (const { name, isSecret = false } of environmentVariables) {
      assert.ok(known.includes(name), name)
      assert.equal(isSecret, name.endsWith('_KEY') || KEY_VARIABLES.includes(name), name)
    }
  })
})

describe('mcp.example.json', () => {
  const { mcpServers } = read('mcp.example.json')

  it('starts a server that remembers', async () => {
    const { call } = await start(mcpServers.gazeway)
    await call('gateway_memory_store', { key: 'colour', value: 'green' })
    const { structuredContent } = await call('gateway_memory_recall', { key: 'colour' })
    assert.equal(structuredContent.memory.value, 'green')
  })

  it('passes on the key that is exported', () => {
    const { XAI_API_KEY } = expanded(mcpServers.gazeway.env, { XAI_API_KEY: 'exported' })
    assert.equal(XAI_API_KEY, 'exported')
  })

  it('has no key in it, so that a model tool says what to do', async () => {
    const { call } = await start(mcpServers.gazeway)
    const { isError, content } = await call('gateway_llm_query', { query: 'anything' })
    assert.equal(isError, true)
    assert.match(content[0]?.text ?? '', /^upstream_not_configured: .*XAI_API_KEY.*sandbox/)
  })
})

describe('package.json', () => {
  it('publishes what a user needs', () => {
    for (const file of ['dist', 'mcp.example.json', 'server.json', 'CHANGELOG.md'])
      assert.ok(manifest.files.includes(file), file)
    assert.deepEqual(manifest.bin, { gazeway: 'dist/cli.js' })
  })
})

describe('the Agent Plugins package', () => {
  const [plugin, servers] = [read('plugin/plugin.json'), read('plugin/mcp.json')]

  it('is valid by our reading of the published schemas, which refuses a wrong one', () => {
    assert.deepEqual(AgentPlugin.parse(plugin), plugin)
    assert.deepEqual(AgentPluginServers.parse(servers), servers)
    for (const wrong of [
      { name: 'Gazeway' },
      { name: 'a--b' },
      { name: undefined },
      { author: 'Gazeway contributors' },
      { author: { ...plugin.author, phone: '1' } },
      { keywords: 'mcp' },
      { mcpServers: './mcp.json' },
      { $schema: plugin.$schema.replace('1.0.0', '1.1.0') },
    ])
      assert.equal(AgentPlugin.safeParse({ ...plugin, ...wrong }).success, false, JSON.stringify(wrong))
    const { gazeway } = servers.mcpServers
    for (const wrong of [
      { type: undefined },
      { command: '' },
      { args: gazeway.args[0] },
      { env: { PLUGIN_ROOT: '/' } },
      { cwd: '/' },
      { url: 'https://gateway.example.com' },
    ]) {
      const mcpServers = { gazeway: { ...gazeway, ...wrong } }
      assert.equal(AgentPluginServers.safeParse({ ...servers, mcpServers }).success, false, JSON.stringify(wrong))
    }
  })

  it('names the package and files of it that there are', () => {
    assert.deepEqual([plugin.name, plugin.version, plugin.license], [manifest.name, manifest.version, manifest.license])
    for (const arg of servers.mcpServers.gazeway.args)
      assert.ok(existsSync(arg.replace(/^\$\{PLUGIN_ROOT\}/, 'plugin')), arg)
    for (const skill of readdirSync('plugin/skills')) assert.ok(existsSync(join('plugin/skills', skill, 'SKILL.md')))
  })
})
