import type { Hono } from 'hono'
import type { Gateway } from '../../../src/gateway.ts'
import type { Keep } from '../../../src/idempotency/idempotency.ts'
import { MemoryList, memoryOwner } from '../../../src/memory/memory.ts'
import { parseInput } from '../../../src/wire/validation.ts'
import { memoryRecall } from '../../../tools/memory-recall.ts'
import { memoryStore } from '../../../tools/memory-store.ts'
import { runTool } from '../../../tools/run-tool.ts'
import { bodyLimit } from '../../web/body-limit.ts'
import { callerOf, type Frame, type FrameContext } from '../../web/frame-context.ts'
import { idempotent } from '../../web/idempotent.ts'
import { readJson } from '../../web/json-body.ts'
import { listReply } from '../../web/list-reply.ts'
import { readQuery } from '../../web/read-query.ts'
import { recallMemory } from '../../web/recall-memory.ts'
import { requestToolContext } from '../../web/tool-context.ts'

const RecentQuery = MemoryList.strict()

/**
 * Registers `POST /memory/store`, `GET /memory/recall` and `GET /memory/recent`: the memory tools for clients without
 * MCP. They use the operator's memories, or the key's own if it has its own.
 */
export function memoryRoutes(app: Hono<Frame>, gateway: Gateway): void {
  app.post('/memory/store', async (c) => {
    const { text, json } = await readJson(c.env.incoming, bodyLimit(gateway, callerOf(c).id))
    return idempotent(c, gateway, { text }, async (keep) => {
      const reply = (made: { created: boolean }) => ({ status: made.created ? 201 : 200, body: made })
      const input = parseInput(memoryStore.input, json)
      const kept: Keep<{ created: boolean }> | undefined = keep && ((trx, made) => keep(trx, reply(made)))
      return reply(await runTool(memoryStore, gateway, input, contextOf(c), kept))
    })
  })
  app.get('/memory/recall', async (c) => {
    const input = parseInput(memoryRecall.input, readQuery(c.req, ['version']))
    return c.json({ found: true, memory: await recallMemory(gateway, input, contextOf(c)) })
  })
  app.get('/memory/recent', async (c) => {
    const query = parseInput(RecentQuery, readQuery(c.req, ['limit', 'offset']))
    const caller = callerOf(c)
    const memory = gateway.memory.of(memoryOwner(caller), caller.id)
    const reply = await listReply(query, (part) => memory.recent(part))
    return reply instanceof Response ? reply : c.json(reply)
  })
}

const contextOf = (c: FrameContext) => requestToolContext(c, 'http')
