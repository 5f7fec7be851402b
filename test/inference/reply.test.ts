import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSseTap } from '../../src/inference/observe/sse-tap.ts'
import { readRefusal } from '../../src/inference/passages/upstream-reply.ts'
import { createProvider } from '../../src/inference/upstreams/create-provider.ts'

const provider = createProvider({
  provider: 'http://127.0.0.1:1/v1',
  api_key: null,
  headers: {},
  aliases: {},
  models: { primary: 'a', fallback: 'b', chat: 'c' },
  timeout_ms: 1000,
  max_retries: 0,
})

describe('a long error that is passed on', () => {
  for (const before of ['', 'x']) {
    const message = before + '👋'.repeat(300)

    it(`is cut between two characters, after ${before.length} units and characters of two`, () => {
      for (const said of [{ error: { message } }, { detail: message }]) {
        const reply = { kind: 'whole' as const, status: 400, headers: {}, body: Buffer.from(JSON.stringify(said)) }
        const { body, error } = readRefusal(reply, provider, null)
        assert.ok(JSON.parse(body).error.message.isWellFormed())
        assert.ok(error.message.isWellFormed())
      }
    })

    it(`is cut so in a stream, too, after ${before.length} units and characters of two`, () => {
      const tap = createSseTap({ dropUsageChunk: true, secrets: [] })
      tap.push(Buffer.from(`data: ${JSON.stringify({ error: { message } })}\n\n`))
      assert.ok(tap.failed()?.message.isWellFormed())
    })
  }
})
