import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { gazeRoutes } from '../../adapters/platform/routes/gaze-routes.ts'
import { memoryRoutes } from '../../adapters/platform/routes/memory-routes.ts'
import { callTool } from '../../adapters/stdio/call-tool.ts'
import { analyzeGazePattern } from '../../tools/analyze-gaze-pattern.ts'
import { memoryStore } from '../../tools/memory-store.ts'
import { retrieveGazeData } from '../../tools/retrieve-gaze-data.ts'
import { storeGazeData } from '../../tools/store-gaze-data.ts'
import { ask, errorOf, type RunningPlatform, startPlatform } from './platform.ts'

describe("routes that do a tool's job", () => {
  let running: RunningPlatform

  before(async () => {
    running = await startPlatform('sandbox')
  })
  after(() => running.close())

  it("take the tool's own input", () => {
    const { gateway } = running
    const routes = [...memoryRoutes(gateway), ...gazeRoutes(gateway, new AbortController().signal)]
    const tools = {
      'POST /api/memory': memoryStore,
      'POST /api/gaze/store': storeGazeData,
      'GET /api/gaze/history': retrieveGazeData,
      'POST /api/gaze/analyze': analyzeGazePattern,
    }
    for (const [operation, { input }] of Object.entries(tools)) {
      const route = routes.find(({ method, path }) => `${method} ${path}` === operation)
      assert.ok((route?.body ?? route?.query) === input, operation)
    }
  })

  it("check the result against the tool's schema, as over MCP", async () => {
    const { gateway, gatewayUrl, admin } = running
    const { key: inference } = await gateway.keys.create({ name: 'models', scopes: ['inference'] })
    await gateway.memory.store({ key: 'a', namespace: 'default', value: 1 })
    await gateway.store.db.updateTable('memories').set({ version: 0 }).execute()

    const overMcp = await callTool(
      'gateway_memory_recall',
      { key: 'a' },
      async () => gateway,
      { surface: 'stdio', callerId: null, roots: async () => [], projectRoot: async () => '/' },
      () => {},
    )
    assert.match(JSON.stringify(overMcp.content), /internal_error/)
    const headers = { authorization: `Bearer ${inference}` }
    for (const reply of [
      await fetch(`${gatewayUrl}/memory/recall?key=a`, { headers }),
      await ask(running, 'GET', '/api/memory/recall?key=a', { key: admin }),
    ]) {
      assert.equal(reply.status, 500)
      assert.equal((await errorOf(reply)).code, 'internal_error')
    }
  })
})
