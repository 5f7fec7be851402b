import type { Hono } from 'hono'
import { z } from 'zod'
import { GazewayError } from '../../src/errors.ts'
import type { Gateway } from '../../src/gateway.ts'
import { type Memory, MemoryInput, MemoryList } from '../../src/memory/record.ts'
import { parseInput } from '../../src/validation.ts'
import type { Frame } from '../web/frame.ts'
import { idempotent } from '../web/idempotent.ts'
import { readJson } from '../web/json-body.ts'
import { readQuery } from '../web/query.ts'

const RecallQuery = z.strictObject({ key: MemoryInput.shape.key, namespace: MemoryInput.shape.namespace })
const RecentQuery = MemoryList.strict()

/** `POST /memory/store`, `GET /memory/recall` and `GET /memory/recent`: the memory tools for clients without MCP. */
export function memoryRoutes(app: Hono<Frame>, gateway: Gateway): void {
  const { memory } = gateway

  app.post('/memory/store', async (c) => {
    const { text, json } = await readJson(c.env.incoming, gateway.loaded.config.http.max_body_bytes)
    return idempotent(c, gateway, { text }, async (keep) => {
      const reply = (made: { memory: Memory; created: boolean }) => ({ status: made.created ? 201 : 200, body: made })
      const input = parseInput(MemoryInput.strict(), json)
      return reply(await memory.store(input, keep && ((trx, made) => keep(trx, reply(made)))))
    })
  })
  app.get('/memory/recall', async (c) => {
    const { key, namespace } = parseInput(RecallQuery, readQuery(c.req))
    const found = await memory.recall({ key, namespace })
    if (!found.memory)
      throw new GazewayError('not_found', `There is no memory ${key} in the namespace ${namespace}.`, { param: 'key' })
    return c.json(found)
  })
  app.get('/memory/recent', async (c) =>
    c.json(await memory.recent(parseInput(RecentQuery, readQuery(c.req, ['limit', 'offset'])))),
  )
}
