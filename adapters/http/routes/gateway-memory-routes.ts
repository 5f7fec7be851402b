import type { Hono } from 'hono'
import { z } from 'zod'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import { type Memory, MemoryInput, MemoryList, memoryOwner } from '../../../src/memory/memory.ts'
import { parseInput } from '../../../src/wire/validation.ts'
import type { Frame, FrameContext } from '../../web/frame.ts'
import { idempotent } from '../../web/idempotent.ts'
import { readJson } from '../../web/json-body.ts'
import { readQuery } from '../../web/read-query.ts'

const RecallQuery = z.strictObject({ key: MemoryInput.shape.key, namespace: MemoryInput.shape.namespace })
const RecentQuery = MemoryList.strict()

/**
 * `POST /memory/store`, `GET /memory/recall` and `GET /memory/recent`: the memory tools for clients without MCP. They reach
 * the operator's memories, or the key's own where it has its own.
 */
export function memoryRoutes(app: Hono<Frame>, gateway: Gateway): void {
  const memoryOf = (c: FrameContext) => {
    const identity = c.get('identity')
    if (identity === undefined) throw new GazewayError('invalid_api_key', 'This needs an API key.')
    return gateway.memory.of(memoryOwner(identity))
  }

  app.post('/memory/store', async (c) => {
    const { text, json } = await readJson(c.env.incoming, gateway.loaded.config.http.max_body_bytes)
    return idempotent(c, gateway, { text }, async (keep) => {
      const reply = (made: { memory: Memory; created: boolean }) => ({ status: made.created ? 201 : 200, body: made })
      const input = parseInput(MemoryInput.strict(), json)
      return reply(await memoryOf(c).store(input, keep && ((trx, made) => keep(trx, reply(made)))))
    })
  })
  app.get('/memory/recall', async (c) => {
    const { key, namespace } = parseInput(RecallQuery, readQuery(c.req))
    const found = await memoryOf(c).recall({ key, namespace })
    if (!found.memory)
      throw new GazewayError('not_found', `There is no memory ${key} in the namespace ${namespace}.`, { param: 'key' })
    return c.json(found)
  })
  app.get('/memory/recent', async (c) =>
    c.json(await memoryOf(c).recent(parseInput(RecentQuery, readQuery(c.req, ['limit', 'offset'])))),
  )
}
