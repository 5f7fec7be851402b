import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { messageStream, named } from '../doubles/anthropic.ts'
import { createMarkedCache, type MarkedPrompt } from '../doubles/marked-cache.ts'
import { createPromptCache, promptOf } from '../doubles/prompt-cache.ts'
import { chunks, json, sse } from '../doubles/upstream.ts'
import { toolCall } from '../e2e/claude.ts'
import { askCodex, CODEX, configureCodex } from '../e2e/codex.ts'
import { type GatewayProcess, onDouble, startGatewayProcess, startProvider } from '../e2e/gateway-process.ts'
import { newPlace, type Place, putStore } from '../e2e/server.ts'

const TURNS = 10

interface Turn {
  prompt: number
  cached: number
}

function partsIn({ project }: Place): string[] {
  const files = Array.from({ length: TURNS }, (_, n) => join(project, `part-${n}.txt`))
  for (const [n, file] of files.entries()) writeFileSync(file, `Line of part ${n}.\n`.repeat(80))
  return files
}

/** Counts the open WebSockets of the Responses API. */
async function openSockets({ url, key }: GatewayProcess): Promise<number> {
  const reply = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${key}` } })
  return Number(/^gazeway_sockets\{kind="responses"\} (\d+)$/m.exec(await reply.text())?.[1] ?? 0)
}

/** Checks that all was read again but the newest part of each turn. */
function requireCached(turns: readonly Turn[]): void {
  assert.equal(turns.length, TURNS + 1)
  const expected = turns.slice(0, -1).reduce((sum, { prompt }) => sum + prompt, 0)
  const cached = turns.reduce((sum, turn) => sum + turn.cached, 0)
  console.log({ turns: turns.length, prompt: turns.at(-1)?.prompt, share: Number((cached / expected).toFixed(4)) })
  assert.ok(cached >= 0.98 * expected, `${cached} of ${expected} tokens`)
}

if (CODEX !== '') {
  const http = { name: 'HTTP', sockets: 0, settings: (block: string) => block }
  const webSocket = {
    name: 'one WebSocket',
    sockets: 1,
    settings: (block: string) => `${block}\nsupports_websockets = true\n`,
  }
  onDouble('A session of Codex over chat completions', (gateway, upstream) => {
    for (const door of [http, webSocket])
      it(`hits the cache of its provider for ten turns, over ${door.name}`, async () => {
        const place = newPlace()
        const files = partsIn(place)
        const cache = createPromptCache()
        const turns: Turn[] = []
        upstream().on('/responses', json(404, { error: { message: 'no such route' } }))
        const sockets: number[] = []
        upstream().on('/chat/completions', async (response, request) => {
          const body = request.body as { messages: { role: string }[]; prompt_cache_key?: string }
          turns.push(cache(body.prompt_cache_key ?? '', promptOf(body)))
          sockets.push(await openSockets(gateway()))
          const file = files[body.messages.filter(({ role }) => role === 'tool').length]
          const answer =
            file === undefined
              ? chunks(['All is read.'])
              : toolCall('exec_command', { cmd: `cat ${file}` }, `call_${turns.length}`)
          return sse(answer)(response, request)
        })
        configureCodex(gateway(), place, door.settings)
        assert.equal(await askCodex(gateway(), place, 'Read all parts.'), 'All is read.')
        requireCached(turns)
        assert.deepEqual(new Set(sockets), new Set([door.sockets]))
      })
  })

  describe('A session of Codex over Messages', () => {
    it('hits the cache of Claude for ten turns, by marks that Codex does not set', async (t) => {
      const upstream = await startProvider()
      const place = newPlace()
      putStore(place)
      writeFileSync(join(place.data, 'config.json'), JSON.stringify({ upstream: { protocol: 'anthropic' } }))
      const gateway = await startGatewayProcess(place, { args: ['--upstream', upstream.url] })
      t.after(async () => {
        await gateway.stop()
        await upstream.close()
      })
      const files = partsIn(place)
      const cache = createMarkedCache()
      const turns: Turn[] = []
      upstream.on('/messages', (response, request) => {
        const body = request.body as MarkedPrompt
        turns.push(cache(body))
        const file = files[turns.length - 1]
        return named(file === undefined ? messageStream(['All is read.']) : calls(file, turns.length))(
          response,
          request,
        )
      })
      configureCodex(gateway, place)
      assert.equal(await askCodex(gateway, place, 'Read all parts.'), 'All is read.')
      requireCached(turns)
    })
  })
}

/** The events of a Message that reads a file. */
function calls(file: string, number: number): object[] {
  const [start] = messageStream([])
  const input = JSON.stringify({ cmd: `cat ${file}` })
  return [
    start as object,
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: `toolu_${number}`, name: 'exec_command', input: {} },
    },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: input } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ]
}
