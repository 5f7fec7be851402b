import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { Progress } from '@modelcontextprotocol/sdk/types.js'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { connect, newPlace } from './server.ts'

const ASK = { messages: [{ role: 'user', content: 'Count.' }] }
const WORDS = ['One, ', 'two, ', 'three.']

describe('a model that streams', () => {
  let upstream: double.UpstreamDouble
  let server: Awaited<ReturnType<typeof connect>>
  const newest = async () => {
    const { structuredContent } = await server.call('gateway_upstream_api_history', { limit: 1 })
    return structuredContent.items[0]
  }

  before(async () => {
    upstream = await double.startUpstream()
    server = await connect(newPlace(), { env: { GAZEWAY_UPSTREAM: upstream.url } })
  })
  beforeEach(() => upstream.received.splice(0))
  after(() => upstream.close())

  /** A stream of which the rest comes only once the client has been told of its beginning. */
  function untilTold(
    events: object[],
    begun: number,
  ): { behaviour: double.Behaviour; told: Progress[]; onprogress(progress: Progress): void } {
    let finish = () => {}
    const seen = new Promise<void>((resolve) => {
      finish = resolve
    })
    const told: Progress[] = []
    return {
      told,
      onprogress(progress) {
        told.push(progress)
        finish()
      },
      async behaviour(response) {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        for (const [at, event] of events.entries()) {
          if (at === begun) await seen
          response.write(`data: ${JSON.stringify(event)}\n\n`)
        }
        response.end('data: [DONE]\n\n')
      },
    }
  }

  it('reports progress as the answer comes, to a client that asked for it', async () => {
    const { behaviour, told, onprogress } = untilTold(double.chunks(WORDS), 2)
    upstream.on('/chat/completions', behaviour)
    const reply = await server.call('gateway_chat_completion', ASK, { onprogress })
    assert.equal(reply.structuredContent.message.content, 'One, two, three.')
    assert.deepEqual(told[0], { progress: 5, message: 'One, ' })
    const steps = told.map(({ progress }) => progress)
    assert.deepEqual(
      steps,
      [...new Set(steps)].sort((a, b) => a - b),
      'it only grows',
    )
    assert.equal((await newest()).stream, true)
  })

  it('reports progress of the research model too', async () => {
    const { behaviour, told, onprogress } = untilTold(double.responseEvents(WORDS), 4)
    upstream.on('/responses', behaviour)
    const reply = await server.call('gateway_llm_query', { query: 'Count.' }, { onprogress })
    assert.equal(reply.structuredContent.answer, 'One, two, three.')
    assert.ok(told.length >= 1, 'at least once')
  })

  it('is said to be cut off where it is', async () => {
    for (const status of ['completed', 'incomplete']) {
      upstream.on('/responses', double.json(200, { ...double.response('One, two'), status }))
      const reply = await server.call('gateway_llm_query', { query: 'Count.' })
      assert.equal(reply.structuredContent.truncated, status === 'incomplete')
      assert.equal(reply.content[0]?.text?.includes('(cut off)'), status === 'incomplete')
    }
  })

  it('is not asked to stream by a client that wants no progress', async () => {
    upstream.on('/chat/completions', double.json(200, double.completion('Six.')))
    await server.call('gateway_chat_completion', ASK)
    assert.deepEqual(Object.keys(upstream.received[0]?.body as object).sort(), ['messages', 'model'])
    assert.equal((await newest()).stream, false)
  })

  for (const [what, tool, path, input, behaviour] of [
    ['before the first word', 'gateway_chat_completion', '/chat/completions', ASK, double.hangs],
    [
      'in the middle of a stream',
      'gateway_chat_completion',
      '/chat/completions',
      ASK,
      double.sse(double.chunks(WORDS).slice(0, 2), 'hang'),
    ],
    ['of the research model', 'gateway_llm_query', '/responses', { query: 'Count.' }, double.hangs],
    ['of the upstream’s own API', 'gateway_gateway', '/models', { method: 'GET', path: '/models' }, double.hangs],
  ] as const)
    it(`is aborted when the client cancels ${what}, and recorded so`, async () => {
      let arrived = () => {}
      const asked = new Promise<void>((resolve) => {
        arrived = resolve
      })
      upstream.on(path, async (response, request) => {
        arrived()
        await behaviour(response, request)
      })
      const controller = new AbortController()
      const { signal } = controller
      const call = server.call(tool, input, { signal, onprogress: () => {} })
      const rejected = assert.rejects(call)
      await asked
      controller.abort('changed my mind')
      await rejected
      await upstream.received[0]?.aborted
      await until(async () => {
        const record = await newest()
        return record?.status === 'aborted' && record.path === `/v1${path}`
      })
      assert.equal(upstream.received.length, 1, 'there was no second try')
    })

  it('is aborted when the client’s time is up', async () => {
    upstream.on('/chat/completions', double.hangs)
    await assert.rejects(server.call('gateway_chat_completion', ASK, { timeout: 300 }), { code: -32001 })
    await upstream.received[0]?.aborted
  })

  it('can be asked several things at once', async () => {
    upstream.on('/chat/completions', double.json(200, double.completion('Yes.')))
    const calls = Array.from({ length: 40 }, () => server.call('gateway_chat_completion', ASK))
    for (const reply of await Promise.all(calls)) assert.equal(reply.content[0]?.text, 'Yes.')
    const { structuredContent } = await server.call('gateway_upstream_api_stats')
    assert.ok(structuredContent.totals.calls >= 40, `${structuredContent.totals.calls} calls`)
  })
})
