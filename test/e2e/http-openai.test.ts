import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import OpenAI, { type ClientOptions } from 'openai'
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod'
import * as z from 'zod'
import { likeSandbox } from '../doubles/sandbox.ts'
import * as double from '../doubles/upstream.ts'
import { type GatewayProcess, onDouble, onEachUpstream } from './gateway-process.ts'

const PARCELS = 'Parcel 7 is in Lyon. Parcel 9 is in Riga.'
const ASK = [{ role: 'user', content: `${PARCELS} Where is parcel 9?` }] as const
const Report = z.object({ parcel: z.int(), status: z.enum(['on its way', 'delivered']), stops: z.array(z.string()) })

const connect = ({ url, key }: GatewayProcess, options: ClientOptions = {}) =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0, ...options })

/**
 * Tests that hold for both sources of the answer: the responses endpoint, and its chat fallback.
 *
 * @param route what the gateway says of the way that each request took
 */
function responsesTests(gateway: () => GatewayProcess, route: 'chat_fallback' | null) {
  const client = () =>
    connect(gateway(), {
      async fetch(url, init) {
        const reply = await fetch(url, init)
        assert.equal(reply.headers.get('x-gazeway-route'), route)
        return reply
      },
    })

  it('gets a response', async () => {
    const response = await client().responses.create({
      input: `${PARCELS} Where is parcel 9?`,
      instructions: 'Answer from the text alone.',
    })
    assert.equal(response.status, 'completed')
    assert.match(response.output_text, /Riga/)
    assert.ok((response.usage?.total_tokens ?? 0) > 0)
  })

  it('follows a response as it is streamed', async () => {
    const stream = client().responses.stream({
      model: 'llm-4.20-multi-agent-beta-0309',
      input: `${PARCELS} Where is parcel 9?`,
    })
    const types: string[] = []
    let text = ''
    for await (const event of stream) {
      types.push(event.type)
      if (event.type === 'response.output_text.delta') text += event.delta
    }
    const response = await stream.finalResponse()
    assert.deepEqual([types[0], types.at(-1)], ['response.created', 'response.completed'])
    assert.equal(text, response.output_text)
    assert.match(text, /Riga/)
  })

  it('parses a structured response, streamed or not', async () => {
    const request = {
      model: 'llm-4-1-fast-reasoning',
      input: `Report: ${PARCELS}`,
      text: { format: zodTextFormat(Report, 'report') },
    }
    Report.parse((await client().responses.parse(request)).output_parsed)
    Report.parse((await client().responses.stream(request).finalResponse()).output_parsed)
  })

  it('runs a tool that a response calls, and sends its output back', async () => {
    const tools: OpenAI.Responses.FunctionTool[] = [
      {
        type: 'function',
        name: 'parcel_status',
        description: 'The status of a parcel.',
        strict: true,
        parameters: z.toJSONSchema(z.object({ parcel: z.string() })),
      },
    ]
    const asked = { role: 'user' as const, content: 'What is the parcel status of "P-42"?' }
    const stream = client().responses.stream({ model: 'llm-4-1-fast-reasoning', input: [asked], tools })
    const [call] = (await stream.finalResponse()).output.filter((item) => item.type === 'function_call')
    assert.ok(call)
    assert.deepEqual([call.name, JSON.parse(call.arguments)], ['parcel_status', { parcel: 'P-42' }])
    const output = { type: 'function_call_output' as const, call_id: call.call_id, output: 'delivered on Friday' }
    const last = await client().responses.create({
      model: 'llm-4-1-fast-reasoning',
      input: [
        asked,
        { type: 'function_call', call_id: call.call_id, name: call.name, arguments: call.arguments },
        output,
      ],
      tools,
    })
    assert.match(last.output_text, /delivered on Friday/)
  })
}

onEachUpstream('the openai SDK', (gateway) => {
  it('lists the models and gets one', async () => {
    const client = connect(gateway())
    const ids: string[] = []
    for await (const model of client.models.list()) ids.push(model.id)
    assert.ok(ids.includes('llm-3-fast'))
    assert.equal((await client.models.retrieve('llm-3-fast')).object, 'model')
    await assert.rejects(client.models.retrieve('none'), OpenAI.NotFoundError)
  })

  it('completes a chat', async () => {
    const { data, request_id } = await connect(gateway())
      .chat.completions.create({ model: 'llm-3-fast', messages: [...ASK] })
      .withResponse()
    assert.match(data.choices[0]?.message.content ?? '', /Riga/)
    assert.equal(data.choices[0]?.finish_reason, 'stop')
    assert.ok((data.usage?.total_tokens ?? 0) > 0)
    assert.match(request_id ?? '', /^req_/)
  })

  it('streams a chat, with usage only where it was asked for', async () => {
    for (const wanted of [true, false]) {
      const stream = await connect(gateway()).chat.completions.create({
        model: 'llm-3-fast',
        messages: [...ASK],
        stream: true,
        ...(wanted ? { stream_options: { include_usage: true } } : {}),
      })
      let text = ''
      let used = 0
      for await (const chunk of stream) {
        text += chunk.choices[0]?.delta.content ?? ''
        if (chunk.choices.length === 0) used += chunk.usage?.total_tokens ?? 0
      }
      assert.match(text, /Riga/)
      assert.equal(used > 0, wanted)
    }
  })

  for (const stream of [false, true])
    it(`runs a tool loop, ${stream ? 'streamed' : 'whole'}`, async () => {
      const asked: unknown[] = []
      const request = {
        model: 'llm-3-fast',
        messages: [{ role: 'user' as const, content: 'What is the parcel status of "P-42"?' }],
        tools: [
          {
            type: 'function' as const,
            function: {
              name: 'parcel_status',
              description: 'The status of a parcel.',
              parameters: z.toJSONSchema(z.object({ parcel: z.string() })) as Record<string, unknown>,
              parse: JSON.parse,
              function(input: { parcel: string }) {
                asked.push(input)
                return 'delivered on Friday'
              },
            },
          },
        ],
      }
      const { completions } = connect(gateway()).chat
      const runner = stream ? completions.runTools({ ...request, stream }) : completions.runTools(request)
      assert.match((await runner.finalContent()) ?? '', /delivered on Friday/)
      assert.deepEqual(asked, [{ parcel: 'P-42' }])
    })

  it('parses structured output, streamed or not', async () => {
    const { completions } = connect(gateway()).chat
    const request = {
      model: 'llm-3-fast',
      messages: [...ASK],
      response_format: zodResponseFormat(Report, 'report'),
    }
    Report.parse((await completions.parse(request)).choices[0]?.message.parsed)
    const streamed = await completions.stream(request).finalChatCompletion()
    Report.parse(streamed.choices[0]?.message.parsed)
  })

  responsesTests(gateway, null)

  it('continues a response by its id', async () => {
    const client = connect(gateway())
    const first = await client.responses.create({ input: `${PARCELS} Where is parcel 7?`, store: true })
    const next = await client.responses.create({ input: 'Where is parcel 9?', previous_response_id: first.id })
    assert.match(next.output_text, /Riga/)
  })

  it('tells a wrong key and a bad request apart', async () => {
    const asked = { model: 'llm-3-fast', messages: [...ASK] }
    const strange = connect(gateway(), { apiKey: 'sk-strange' })
    await assert.rejects(strange.chat.completions.create(asked), (error) => {
      assert.ok(error instanceof OpenAI.AuthenticationError)
      assert.deepEqual([error.status, error.code, error.type], [401, 'invalid_api_key', 'authentication_error'])
      return true
    })
    await assert.rejects(connect(gateway()).chat.completions.create({ ...asked, messages: [] }), (error) => {
      assert.ok(error instanceof OpenAI.UnprocessableEntityError)
      assert.deepEqual([error.code, error.param], ['validation_failed', 'messages'])
      return true
    })
  })
})

onDouble('the openai SDK, while the responses endpoint fails,', (gateway, upstream) => {
  before(() => upstream().on('/responses', double.fails(500)))
  responsesTests(gateway, 'chat_fallback')
})

onDouble('the openai SDK, when an upstream misbehaves,', (gateway, upstream) => {
  const ask = (options: { maxRetries?: number } = {}) =>
    connect(gateway(), options).chat.completions.create({ model: 'any', messages: [...ASK] })

  it('sees a rate limit, and how long to wait', async () => {
    upstream().on('/chat/completions', double.fails(429, { 'retry-after': '7', 'x-ratelimit-remaining-requests': '0' }))
    await assert.rejects(ask(), (error) => {
      assert.ok(error instanceof OpenAI.RateLimitError)
      assert.equal(error.headers.get('retry-after'), '7')
      assert.equal(error.headers.get('x-ratelimit-remaining-requests'), '0')
      assert.match(error.message, /double says 429/)
      return true
    })
    assert.equal(upstream().received.length, 1, 'how often to retry is the client’s choice')
  })

  it('retries by itself, and succeeds', async () => {
    upstream().on('/chat/completions', double.fails(429, { 'retry-after-ms': '1' }), likeSandbox())
    assert.match((await ask({ maxRetries: 1 })).choices[0]?.message.content ?? '', /Riga/)
  })

  it('sees a bad request with its code and its field', async () => {
    const error = { message: 'too warm', type: 'invalid_request_error', code: 'too_warm', param: 'temperature' }
    upstream().on('/chat/completions', double.json(400, { error }))
    await assert.rejects(ask(), (thrown) => {
      assert.ok(thrown instanceof OpenAI.BadRequestError)
      assert.deepEqual([thrown.code, thrown.param, thrown.type], ['too_warm', 'temperature', 'invalid_request_error'])
      return true
    })
  })

  it('sees an error of the server for a connection that drops', async () => {
    upstream().on('/chat/completions', double.drops)
    await assert.rejects(ask(), OpenAI.InternalServerError)
  })

  it('fails on a stream that breaks, and does not take it for an answer', async () => {
    upstream().on('/chat/completions', double.sse(double.chunks(['Hel', 'lo']).slice(0, 2), 'break'))
    const stream = await connect(gateway()).chat.completions.create({ model: 'any', messages: [...ASK], stream: true })
    let text = ''
    await assert.rejects(async () => {
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
    }, OpenAI.APIError)
    assert.equal(text, 'Hel')
    upstream().on('/responses', double.sse(double.responseEvents(['Hel', 'lo']).slice(0, 4), 'break'))
    const response = await connect(gateway()).responses.create({ model: 'any', input: 'x', stream: true })
    await assert.rejects(async () => {
      for await (const event of response) if (event.type === 'response.output_text.delta') text += event.delta
    }, OpenAI.APIError)
    assert.equal(text, 'HelHel')
  })

  it('reaches the upstream when it aborts a stream', async () => {
    const client = connect(gateway())
    upstream().on('/chat/completions', double.sse(double.chunks(['Hel']).slice(0, 2), 'hang'))
    upstream().on('/responses', double.sse(double.responseEvents(['Hel']).slice(0, 4), 'hang'))
    const chat = await client.chat.completions.create({ model: 'any', messages: [...ASK], stream: true })
    for await (const _ of chat) break
    await upstream().received[0]?.aborted
    const response = await client.responses.create({ model: 'any', input: 'x', stream: true })
    for await (const event of response) if (event.type === 'response.output_text.delta') break
    await upstream().received[1]?.aborted
  })

  it('reaches the upstream when it aborts before an answer', async () => {
    const client = connect(gateway())
    const leaving = new AbortController()
    upstream().on('/chat/completions', () => leaving.abort())
    const request = { model: 'any', messages: [...ASK] }
    await assert.rejects(client.chat.completions.create(request, { signal: leaving.signal }), OpenAI.APIUserAbortError)
    await upstream().received[0]?.aborted
  })
})
