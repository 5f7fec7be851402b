import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { createOpenResponses } from '@ai-sdk/open-responses'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, type LanguageModel, streamText, type ToolSet, tool } from 'ai'
import OpenAI from 'openai'
import * as z from 'zod'
import type { ChatChunk, ChatCompletion } from '../../src/inference/api/requests.ts'
import { toResponse } from '../../src/inference/convert/chat-to-response.ts'
import { createResponseEvents } from '../../src/inference/convert/chat-to-response-events.ts'

const usage = {
  prompt_tokens: 10,
  completion_tokens: 5,
  total_tokens: 15,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 2 },
}
const chunk = (delta: object, finish_reason: string | null = null) =>
  ({ model: 'llm-1', choices: [{ index: 0, delta, finish_reason }] }) as ChatChunk
const usageChunk = { model: 'llm-1', choices: [], usage } as unknown as ChatChunk
const look = (index: number, id: string) => ({ index, id, type: 'function', function: { name: 'look', arguments: '' } })
const argumentsOf = (index: number, text: string) => ({ tool_calls: [{ index, function: { arguments: text } }] })

/** Chat streams of the upstream, by model; whole replies are made from them. */
const STREAMS: Record<string, ChatChunk[]> = {
  text: [chunk({ content: 'Hel' }), chunk({ content: 'lo.' }), chunk({}, 'stop'), usageChunk],
  tools: [
    chunk({ reasoning_content: 'Both.' }),
    chunk({ content: 'I look.' }),
    chunk({ tool_calls: [look(0, 'c1'), look(1, 'c2')] }),
    chunk(argumentsOf(0, '{"at":')),
    chunk(argumentsOf(1, '{"at":2}')),
    chunk(argumentsOf(0, '1}')),
    chunk({}, 'tool_calls'),
    usageChunk,
  ],
  refusal: [chunk({ refusal: 'I will not.' }), chunk({}, 'stop'), usageChunk],
  cut: [chunk({ content: 'Hel' }), chunk({}, 'length'), usageChunk],
  broken: [chunk({ content: 'Hel' }), { error: { message: 'overloaded' } } as never],
}
const called = (id: string, at: number) => ({
  id,
  type: 'function',
  function: { name: 'look', arguments: JSON.stringify({ at }) },
})
const WHOLES: Record<string, ChatCompletion> = {
  text: whole({ content: 'Hello.' }, 'stop'),
  tools: whole(
    { content: 'I look.', reasoning_content: 'Both.', tool_calls: [called('c1', 1), called('c2', 2)] },
    'tool_calls',
  ),
  refusal: whole({ refusal: 'I will not.' }, 'stop'),
  cut: whole({ content: 'Hel' }, 'length'),
}

function whole(message: object, finish_reason: string): ChatCompletion {
  return { model: 'llm-1', created: 1_700_000_000, usage, choices: [{ index: 0, message, finish_reason }] } as never
}

async function startServer(): Promise<{ server: Server; baseURL: string }> {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    const asked = JSON.parse(body)
    if (!asked.stream) {
      const answer = WHOLES[asked.model]
      assert.ok(answer)
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(toResponse(answer, asked)))
      return
    }
    const events = createResponseEvents(asked)
    const sent = [...events.start(), ...(STREAMS[asked.model] ?? []).flatMap(events.push), ...events.finish()]
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of sent) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    response.end('data: [DONE]\n\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }
}

let server: Server
let baseURL: string
before(async () => {
  ;({ server, baseURL } = await startServer())
})
after(() => {
  server.close()
  server.closeAllConnections()
})

describe('the openai client on converted Responses', () => {
  const client = () => new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0 })

  it('streams text and usage', async () => {
    const stream = client().responses.stream({ model: 'text', input: 'Hello' })
    const heard: string[] = []
    stream.on('response.output_text.delta', ({ delta, snapshot }) => heard.push(`${delta}|${snapshot}`))
    const response = await stream.finalResponse()
    assert.deepEqual(heard, ['Hel|Hel', 'lo.|Hello.'])
    assert.deepEqual([response.output_text, response.status, response.usage?.input_tokens], ['Hello.', 'completed', 10])
  })

  it('streams reasoning and parallel calls', async () => {
    const response = await client().responses.stream({ model: 'tools', input: 'Look' }).finalResponse()
    assert.deepEqual(
      response.output.map((item) => item.type),
      ['reasoning', 'message', 'function_call', 'function_call'],
    )
    const calls = response.output.filter((item) => item.type === 'function_call')
    assert.deepEqual(
      calls.map(({ call_id, arguments: args }) => [call_id, args]),
      [
        ['c1', '{"at":1}'],
        ['c2', '{"at":2}'],
      ],
    )
  })

  it('reads a whole answer', async () => {
    const response = await client().responses.create({ model: 'tools', input: 'Hello' })
    assert.deepEqual([response.output_text, response.output.length], ['I look.', 4])
  })

  it('ends as incomplete, and rejects where the upstream broke off', async () => {
    const cut = await client().responses.stream({ model: 'cut', input: 'Hello' }).finalResponse()
    assert.deepEqual([cut.status, cut.incomplete_details?.reason], ['incomplete', 'max_output_tokens'])
    await assert.rejects(
      client().responses.stream({ model: 'broken', input: 'Hello' }).finalResponse(),
      /aborted its answer: overloaded/,
    )
  })

  it('keeps its own account of a stream equal to the last Response', async () => {
    for (const model of Object.keys(WHOLES)) {
      const stream = client().responses.stream({ model, input: 'Hello' })
      const items: unknown[] = []
      stream.on('response.output_item.done', ({ item }) => items.push(item))
      const { output } = await stream.finalResponse()
      assert.deepEqual(
        items,
        output.map((item) => plainItem(item)),
      )
    }
  })
})

/** The client adds what it parsed; the wire has none of it. */
function plainItem(item: object): unknown {
  return JSON.parse(JSON.stringify(item, (key, value) => (/^parsed/.test(key) ? undefined : value)))
}

const clients: Record<string, () => (model: string) => LanguageModel> = {
  '@ai-sdk/openai': () => createOpenAI({ baseURL, apiKey: 'none' }).responses,
  '@ai-sdk/open-responses': () => createOpenResponses({ name: 'gazeway', url: `${baseURL}/responses`, apiKey: 'none' }),
}
// The SDK's own types do not agree with exactOptionalPropertyTypes.
const tools = { look: tool({ description: 'Looks.', inputSchema: z.object({ at: z.number() }) }) } as unknown as ToolSet

for (const [name, open] of Object.entries(clients))
  describe(`the AI SDK with ${name} on converted Responses`, () => {
    const stream = (model: string) => {
      const errors: unknown[] = []
      const onError = ({ error }: { error: unknown }) => void errors.push(error)
      return { result: streamText({ model: open()(model), prompt: 'Hello', tools, maxRetries: 0, onError }), errors }
    }

    it('streams text and usage', async () => {
      const { result, errors } = stream('text')
      assert.equal(await result.text, 'Hello.')
      const { inputTokens, outputTokens, cachedInputTokens } = await result.usage
      assert.deepEqual([inputTokens, outputTokens, cachedInputTokens], [10, 5, 4])
      assert.equal(await result.finishReason, 'stop')
      assert.deepEqual(errors, [])
    })

    it('streams reasoning and parallel calls', async () => {
      const { result, errors } = stream('tools')
      const calls = await result.toolCalls
      assert.deepEqual(
        calls.map(({ toolCallId, input }) => [toolCallId, input]),
        [
          ['c1', { at: 1 }],
          ['c2', { at: 2 }],
        ],
      )
      assert.deepEqual([await result.text, await result.reasoningText], ['I look.', 'Both.'])
      assert.equal(await result.finishReason, 'tool-calls')
      assert.deepEqual(errors, [])
    })

    it('tells a cut answer from a broken one', async () => {
      const cut = stream('cut')
      assert.deepEqual([await cut.result.text, await cut.result.finishReason], ['Hel', 'length'])
      const broken = stream('broken')
      await broken.result.consumeStream()
      assert.equal(await broken.result.finishReason, 'error')
    })

    it('reads the same from a whole Response', async () => {
      const text = await generateText({ model: open()('text'), prompt: 'Hello', maxRetries: 0 })
      assert.deepEqual([text.text, text.usage.totalTokens, text.finishReason], ['Hello.', 15, 'stop'])
      const calls = await generateText({ model: open()('tools'), prompt: 'Hello', tools, maxRetries: 0 })
      assert.deepEqual(
        calls.toolCalls.map(({ input }) => input),
        [{ at: 1 }, { at: 2 }],
      )
    })
  })

it('the AI SDK with @ai-sdk/openai shows a refusal, streamed or not', async () => {
  const model = createOpenAI({ baseURL, apiKey: 'none' }).responses('refusal')
  assert.equal(await streamText({ model, prompt: 'Hello' }).text, 'I will not.')
  assert.equal((await generateText({ model, prompt: 'Hello' })).text, 'I will not.')
})
