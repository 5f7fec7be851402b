import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { createPromptCache, promptOf } from '../doubles/prompt-cache.ts'
import { chunks, sse } from '../doubles/upstream.ts'
import { askClaude, fromReadme, toolCall } from '../e2e/claude.ts'
import { onDouble } from '../e2e/gateway-process.ts'
import { newPlace } from '../e2e/server.ts'

const TURNS = 10

interface ChatBody {
  messages: { role: string }[]
  tools?: unknown[]
}

onDouble('A session of Claude Code over chat completions', (gateway, upstream) => {
  it('keeps the beginning of its prompt byte for byte, for ten turns', async () => {
    const place = newPlace()
    const files = Array.from({ length: TURNS }, (_, n) => join(place.project, `part-${n}.txt`))
    for (const [n, file] of files.entries()) writeFileSync(file, `Line of part ${n}.\n`.repeat(80))
    const cache = createPromptCache()
    const turns: { prefix: string; prompt: number; cached: number }[] = []
    upstream().on('/chat/completions', (response, request) => {
      const body = request.body as ChatBody
      if (!body.tools?.length) return sse(chunks(['A title']))(response, request)
      const found = cache('', promptOf(body))
      turns.push({ prefix: JSON.stringify([body.tools, body.messages]).slice(0, -2), ...found })
      const file = files[body.messages.filter(({ role }) => role === 'tool').length]
      const answer =
        file === undefined ? chunks(['All is read.']) : toolCall('Read', { file_path: file }, `call_${turns.length}`)
      return sse(answer)(response, request)
    })

    const turn = await askClaude(fromReadme(gateway()), place, 'Read all parts.', ['--allowedTools', 'Read'])

    assert.deepEqual([turn.is_error, turn.result], [false, 'All is read.'])
    assert.equal(turns.length, TURNS + 1)
    for (const [n, { prefix }] of turns.entries())
      assert.ok(prefix.startsWith(turns[n - 1]?.prefix ?? ''), `turn ${n} begins as the one before`)
    // All but the newest message of each turn, and the rest of a step of the cache.
    const expected = turns.slice(0, -1).reduce((sum, { prompt }) => sum + prompt, 0)
    const cached = turns.reduce((sum, found) => sum + found.cached, 0)
    console.log({ turns: turns.length, prompt: turns.at(-1)?.prompt, share: Number((cached / expected).toFixed(4)) })
    assert.ok(cached >= 0.98 * expected, `${cached} of ${expected} tokens`)
  })
})
