import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import * as double from '../doubles/upstream.ts'
import { newPlace, spawnServer } from './server.ts'

/** In no form that a pattern knows: only its value gives it away. */
const KEY = 'Zq7!pLm-Xw93"vK\\tR-0042'
const ASK = { messages: [{ role: 'user', content: 'Hello.' }] }

const said = (text: string) => ({ error: { message: text, type: 'invalid_request_error', code: null, param: null } })
const echoes: Record<string, double.Behaviour> = {
  'an error': double.json(401, said(`Incorrect API key provided: ${KEY}.`)),
  'a long error': double.json(400, said(`${'x'.repeat(490)}${KEY}${'y'.repeat(100)}`)),
  'an error that is no JSON': (response) => void response.writeHead(403).end(`Forbidden: Bearer ${KEY}`),
  'an error of its own shape': double.json(400, { detail: { given: [KEY] } }),
  'an error in the middle of a stream': double.sse(
    [...double.chunks(['Hel']).slice(0, 2), said(`Expired: ${KEY}`)],
    'none',
  ),
  'a reply that is not one': double.json(200, { echo: KEY }),
}

describe('the upstream key', () => {
  let upstream: double.UpstreamDouble
  before(async () => {
    upstream = await double.startUpstream()
  })
  after(() => upstream.close())

  for (const [what, behaviour] of Object.entries(echoes)) {
    const calls = {
      'a chat': ['gateway_chat_completion', ASK],
      'a chat that streams': ['gateway_chat_completion', ASK, { progressToken: 1 }],
      'a question': ['gateway_llm_query', { query: 'Hello?' }],
      'a call of its own API': ['gateway_gateway', { method: 'GET', path: '/models' }],
    } as const
    for (const [kind, call] of Object.entries(calls))
      it(`is told nowhere when the upstream echoes it in ${what}, after ${kind}`, async () => {
        const place = newPlace()
        for (const path of ['/chat/completions', '/responses', '/models']) upstream.on(path, behaviour)
        upstream.received.splice(0)
        const env = { GAZEWAY_UPSTREAM: upstream.url, GAZEWAY_UPSTREAM_API_KEY: KEY }
        const server = spawnServer(place, { args: ['--log-level', 'debug'], env })
        await server.initialize()
        server.write('not JSON\n')
        server.callTool(1, ...call)
        assert.ok((await server.answer(1)).result, 'answered')
        assert.ok(upstream.received.length > 0, 'the upstream was asked')
        for (const { headers } of upstream.received) assert.equal(headers.authorization, `Bearer ${KEY}`)
        server.callTool(2, 'gateway_upstream_api_history', {})
        assert.ok((await server.answer(2)).result.structuredContent.total > 0, 'the call has its record')
        server.child.stdin.end()
        assert.equal((await server.exit).code, 0)

        assertHidden(server.stdout())
        assertHidden(server.stderr())
        const files = readdirSync(place.data)
        assert.ok(files.includes('gazeway.db'), 'there is a store to look into')
        for (const file of files) assertHidden(readFileSync(join(place.data, file), 'latin1'))
      })
  }
})

/** Fails when text holds the key, as it is or as JSON writes it, or a telling part of it. */
function assertHidden(text: string): void {
  for (const form of [KEY, JSON.stringify(KEY).slice(1, -1), KEY.slice(0, 8), KEY.slice(-6)]) {
    const at = text.indexOf(form)
    assert.equal(at, -1, `found ${form} in …${text.slice(Math.max(0, at - 200), at + 60)}…`)
  }
}
