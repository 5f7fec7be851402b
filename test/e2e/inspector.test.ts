import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { CLI, connect, finish, newPlace } from './server.ts'

const INSPECTOR = resolve('node_modules/.bin/mcp-inspector')
/** Command of the inspector's second major, which needs Node 22.19. */
const { GAZEWAY_TEST_INSPECTOR: inspector2 } = process.env

describe('the MCP inspector on the command line', () => {
  const place = newPlace()
  const inspect = async (...args: string[]) => {
    const child = spawn(INSPECTOR, ['--cli', process.execPath, CLI, '--upstream', 'sandbox', ...args], {
      cwd: place.project,
      env: place.env,
    })
    const { code, stdout, stderr } = await finish(child)
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout)
  }

  it('lists the tools', async () => {
    const { tools } = await inspect('--method', 'tools/list')
    assert.equal(tools.length, 12)
    assert.equal(tools[0].name, 'gateway_llm_query')
  })

  it('finds no fault in the tools with --strict of its second major', { skip: !inspector2 }, async () => {
    const server = ['--', process.execPath, CLI, '--upstream', 'sandbox']
    const args = ['--cli', '--strict', '--method', 'tools/list', ...server]
    const child = spawn(String(inspector2), args, { cwd: place.project, env: place.env })
    const { code, stdout, stderr } = await finish(child)
    assert.equal(code, 0, stdout + stderr)
    assert.equal(stderr, '')
    assert.equal(JSON.parse(stdout).tools.length, 12)
  })

  /** Output of its second major, in the era of requests without `initialize`, which takes home and path alone. */
  async function inspect2(...args: string[]): Promise<string> {
    const server = ['--', process.execPath, CLI, '--upstream', 'sandbox', '--data', place.data]
    const child = spawn(String(inspector2), ['--cli', '--protocol-era', 'modern', ...args, ...server], {
      cwd: place.project,
      env: place.env,
    })
    const { code, stdout, stderr } = await finish(child)
    assert.equal(code, 0, stdout + stderr)
    return stdout
  }

  it('verifies the skill in its second major', { skip: !inspector2 }, async () => {
    const report = JSON.parse(await inspect2('--method', 'skills/list', '--verify'))
    assert.deepEqual([report.name, report.conformance, report.outcome], ['gazeway-memory', [], 'verified'])
  })

  it('gets the answer of a task in its second major', { skip: !inspector2 }, async () => {
    const call = ['--method', 'tools/call', '--tool-name', 'gateway_llm_query', '--tool-arg', 'query=Hello?']
    assert.match(JSON.parse(await inspect2(...call)).content[0].text, /\[sandbox\]/)
    assert.equal(readdirSync(join(place.data, 'mcp-tasks')).length, 1)
  })

  it('calls a tool', async () => {
    const arg = ['--tool-arg', 'key=from/inspector', 'value=kept']
    const reply = await inspect('--method', 'tools/call', '--tool-name', 'gateway_memory_store', ...arg)
    assert.equal(reply.structuredContent.created, true)
    const { structuredContent } = await (await connect(place)).call('gateway_memory_recall', { key: 'from/inspector' })
    assert.equal(structuredContent.memory.value, 'kept')
  })

  it('lists the memories', async () => {
    const { resources } = await inspect('--method', 'resources/list')
    assert.deepEqual(
      resources.map(({ uri }: { uri: string }) => uri),
      [`memory://default/from%2Finspector?project=${encodeURIComponent(place.project)}`],
    )
  })
})
