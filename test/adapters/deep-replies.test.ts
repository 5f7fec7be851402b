import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { callTool } from '../../adapters/stdio/call-tool.ts'
import * as double from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

const MESSAGES = [{ role: 'user', content: 'Hello?' }]
const DEEP = '['.repeat(20_000) + ']'.repeat(20_000)

/** A reply as it is sent, with one field that nests 20,000 levels deep. */
const deep = (reply: object) => JSON.stringify({ ...reply, extra: 'DEEP' }).replace('"DEEP"', DEEP)
const sends =
  (type: string, text: string): double.Behaviour =>
  (response) => {
    response.writeHead(200, { 'content-type': type })
    response.end(text)
  }
const whole = (reply: object) => sends('application/json', deep(reply))
const streamed = (event: object) => sends('text/event-stream', `data: ${deep(event)}\n\ndata: [DONE]\n\n`)

describe('a reply of the upstream that is nested too deeply', () => {
  let upstream: double.UpstreamDouble
  let running: RunningGateway
  before(async () => {
    upstream = await double.startUpstream()
    running = await startGateway(upstream.url, {}, { upstream: { max_retries: 0, allowed_paths: ['/models'] } })
  })
  after(async () => {
    await running.close()
    await upstream.close()
  })

  for (const [what, behaviour, stream] of [
    ['a whole reply that is asked for as a stream', whole(double.completion('Hello.')), true],
    ['a stream that is asked for whole', streamed(double.chunks(['Hello.'])[0] ?? {}), false],
  ] as const)
    it(`is the upstream’s fault (502), not the caller’s: ${what}`, async () => {
      upstream.on('/chat/completions', behaviour)
      const reply = await fetch(`${running.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${running.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ messages: MESSAGES, stream }),
      })
      const { error } = (await reply.json()) as { error: { code: string; message: string } }
      assert.deepEqual([reply.status, error.code], [502, 'upstream_bad_reply'])
      assert.match(error.message, /nested too deeply/)
    })

  it('is the upstream’s fault to the tool that passes replies on', async () => {
    upstream.on('/models', whole({ data: [] }))
    const context = { surface: 'stdio' as const, callerId: null, roots: async () => [], projectRoot: async () => '/' }
    const gateway = async () => running.gateway
    const result = await callTool('gateway_gateway', { method: 'GET', path: '/models' }, gateway, context, (fault) =>
      assert.fail(String(fault)),
    )
    assert.match(JSON.stringify(result.content), /upstream_bad_reply: .*nests more than 1000 levels deep/)
  })

  it('is not what a request is that is nested too deeply', async () => {
    const tools = [
      {
        type: 'function',
        function: { name: 'f', parameters: JSON.parse(DEEP.replace(/^\[/, '{"a":[').replace(/\]$/, ']}')) },
      },
    ]
    await assert.rejects(
      running.gateway.upstream.chat(
        { messages: MESSAGES as never, tools: tools as never },
        { surface: 'stdio', callerId: null },
      ),
      { code: 'validation_failed', message: /request is nested too deeply/ },
    )
  })
})
