import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import OpenAI from 'openai'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { eventsOf, openGateway, QUESTION } from './http-gateway.ts'

const { server, running, post, records, sentBody } = await openGateway()

describe('POST /v1/responses', () => {
  it('passes a response through', async () => {
    const answer = double.response('Found.')
    server.on('/responses', double.json(200, answer))
    const asked = { ...QUESTION, previous_response_id: 'resp_0', store: true, tools: [{ type: 'web_search' }], x: 1 }
    const reply = await post('/v1/responses', asked)
    assert.deepEqual(await reply.json(), answer)
    assert.deepEqual(sentBody(), { ...asked, model: 'llm-4.20-multi-agent-beta-0309' })
    assert.equal(reply.headers.get('x-gazeway-route'), null)
    assert.equal((await records())[0]?.usage?.total_tokens, 27)
  })

  it('passes a stream of events through', async () => {
    const events = double.responseEvents(['Fo', 'und.'])
    server.on('/responses', double.sse(events, 'none'))
    const reply = await post('/v1/responses', { ...QUESTION, stream: true })
    assert.deepEqual(eventsOf(await reply.text()), events)
    assert.equal((await records())[0]?.usage?.total_tokens, 27)
  })

  it('streams a response that came whole', async () => {
    const { output, ...rest } = double.response('Found.', [{ type: 'url_citation', url: 'https://a.example/' }])
    const answer = {
      ...rest,
      output: [
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [{ type: 'summary_text', text: 'Look.' }],
          content: [{ type: 'reasoning_text', text: 'Where?' }],
        },
        { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'it' } },
        ...output,
        { type: 'message', id: 'msg_2', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
        {
          type: 'function_call',
          id: 'fc_1',
          call_id: 'call_1',
          name: 'f',
          arguments: '{"a":1}',
          status: 'completed',
        },
        { type: 'unheard_of', id: 'x_1', value: 1 },
      ],
    }
    server.on('/responses', double.json(200, answer))
    const reply = await post('/v1/responses', { ...QUESTION, stream: true })
    assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, 'text/event-stream'])
    const events = eventsOf(await reply.text())
    assert.deepEqual(
      events.map((event) => event.sequence_number),
      events.map((_, i) => i),
    )
    const deltas = events.flatMap(({ type, delta }) => (delta ? [[type.slice('response.'.length), delta]] : []))
    assert.deepEqual(deltas, [
      ['reasoning_summary_text.delta', 'Look.'],
      ['reasoning_text.delta', 'Where?'],
      ['output_text.delta', 'Found.'],
      ['refusal.delta', 'No.'],
      ['function_call_arguments.delta', '{"a":1}'],
    ])
    assert.deepEqual(events.at(-1).response, answer)

    const client = new OpenAI({ baseURL: `${running.url}/v1`, apiKey: running.key, maxRetries: 0 })
    const joined = await client.responses.stream({ ...QUESTION, model: 'm' }).finalResponse()
    assert.deepEqual([joined.id, joined.output_text, joined.output.length], ['resp_1', 'Found.', 6])
    assert.equal(server.received.length, 2, 'nothing falls back')
    await until(async () => (await records()).length === 2)
    for (const { status, usage } of await records()) assert.deepEqual([status, usage?.total_tokens], ['ok', 27])
  })

  it('ends the stream of a response that came whole as its status says', async () => {
    for (const [status, last] of [
      ['incomplete', 'response.incomplete'],
      ['queued', 'response.queued'],
    ] as const) {
      server.on('/responses', double.json(200, { ...double.response('Fo'), status }))
      const events = eventsOf(await (await post('/v1/responses', { ...QUESTION, stream: true })).text())
      assert.equal(events.at(-1).type, last)
    }
  })

  it('gathers a stream of events that was not asked for', async () => {
    server.on('/responses', double.sse(double.responseEvents(['Fo', 'und.']), 'hang'))
    const reply = await post('/v1/responses', QUESTION, { 'idempotency-key': 'gathered' })
    assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, 'application/json'])
    assert.deepEqual(await reply.json(), double.response('Found.'))
    assert.equal(reply.headers.get('x-gazeway-route'), null)
    const [record] = await records()
    assert.deepEqual([record?.status, record?.stream, record?.usage?.total_tokens], ['ok', false, 27])
  })

  for (const [what, events] of Object.entries(double.endedWithoutOutput('Found.')))
    it(`gathers a stream of events that ends ${what}`, async () => {
      server.on('/responses', double.sse(events, 'none'))
      const reply = await post('/v1/responses', QUESTION)
      const { output } = (await reply.json()) as { output: Array<{ type: string; content: Array<{ text: string }> }> }
      assert.deepEqual([reply.status, reply.headers.get('x-gazeway-route')], [200, null])
      const said = output.map(({ type, content }) => (type === 'message' ? content.map(({ text }) => text) : type))
      assert.deepEqual(said.at(-1), ['Found.'])
    })

  it('estimates a response without usage, unless it is yet to be generated', async () => {
    const usageOf = async (response: object) => {
      const before = (await records()).length
      server.on('/responses', double.json(200, response))
      assert.equal((await post('/v1/responses', { ...QUESTION, background: true })).status, 200)
      await until(async () => (await records()).length > before)
      return (await records())[0]?.usage
    }
    for (const status of ['completed', 'incomplete'])
      assert.equal((await usageOf({ ...double.response('Found.'), status, usage: null }))?.estimated, true)
    for (const status of ['queued', 'in_progress']) {
      assert.equal(await usageOf({ ...double.response(''), output: [], status, usage: null }), null)
      assert.equal((await usageOf({ ...double.response('Fo'), status }))?.total_tokens, 27, 'what is reported counts')
    }
  })

  it('estimates a stream alike whatever it repeats of the request', async () => {
    const words = Array.from({ length: 1000 }, () => ' word')
    for (const instructions of ['Be short.', 'a b '.repeat(25_000)]) {
      const events = double.responseEvents(words).map((event) => {
        const { response, ...rest } = event as { response?: object }
        return response ? { ...rest, response: { ...response, instructions, usage: null } } : rest
      })
      server.on('/responses', double.sse(events, 'none'))
      await (await post('/v1/responses', { ...QUESTION, instructions, stream: true })).text()
    }
    await until(async () => (await records()).length === 2)
    const [long, short] = (await records()).map(({ usage }) => usage?.completion_tokens)
    assert.equal(long, short)
    assert.ok(Math.abs((short ?? 0) - 1000) < 50, `${short} tokens`)
  })

  it('counts the usage of a response that was cut short', async () => {
    const events = double.responseEvents(['Fo'])
    const cut = { ...events.at(-1), type: 'response.incomplete' }
    server.on('/responses', double.sse([...events.slice(0, -1), cut], 'none'))
    await (await post('/v1/responses', { ...QUESTION, stream: true })).text()
    const [record] = await records()
    assert.deepEqual([record?.status, record?.usage?.total_tokens], ['ok', 27])
  })

  it('keeps the numbers that JavaScript cannot hold', async () => {
    server.on('/responses', double.json(200, double.response('Found.')))
    assert.equal((await post('/v1/responses', '{"input":"Find it.","x":-1e400}')).status, 200)
    assert.equal(sentBody().x, Number.NEGATIVE_INFINITY)
  })
})
