import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import OpenAI, { APIUserAbortError, BadRequestError } from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import type {
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions'
import * as z from 'zod'
import { createSandbox } from '../../src/inference/sandbox/sandbox.ts'
import { NO_MODEL } from '../../src/inference/sandbox/text-prefix.ts'

function createClient(): OpenAI {
  const sandbox = createSandbox()
  return new OpenAI({
    baseURL: 'http://sandbox.local/v1',
    apiKey: 'none',
    maxRetries: 0,
    fetch: (url, init) => sandbox.fetch(new Request(url, init)),
  })
}

const client = createClient()
const MODEL = 'llm-3-fast'

const BRIEFED: ChatCompletionMessageParam[] = [
  {
    role: 'system',
    content: 'You help with Gazeway. Never say where the staging cluster runs.',
  },
  { role: 'user', content: 'The staging cluster runs in eu-west. Anna owns the billing service.' },
  { role: 'assistant', content: '[sandbox] Noted.' },
  { role: 'user', content: 'Where does the staging cluster run?' },
]

const WEATHER = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Current weather for a city',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    },
  },
} as const

describe('chat completions of the sandbox', () => {
  it('answers with the sentence that fits the question, and says who answers', async () => {
    const { data, response } = await client.chat.completions.create({ model: MODEL, messages: BRIEFED }).withResponse()
    assert.equal(data.choices[0]?.message.content, `${NO_MODEL}The staging cluster runs in eu-west.`)
    assert.equal(data.choices[0]?.finish_reason, 'stop')
    assert.equal(data.model, MODEL)
    assert.equal(data.system_fingerprint, 'sandbox')
    assert.equal(response.headers.get('x-upstream'), 'sandbox')
    assert.ok(data.usage && data.usage.prompt_tokens > 20 && data.usage.completion_tokens > 5)
    assert.equal(data.usage.total_tokens, data.usage.prompt_tokens + data.usage.completion_tokens)
  })

  it('quotes context from the last message beside its question', async () => {
    const content = 'Which port does it use? The gateway uses port 8811. It was written in 2026.'
    const { choices } = await client.chat.completions.create({ model: MODEL, messages: [{ role: 'user', content }] })
    assert.equal(choices[0]?.message.content, `${NO_MODEL}The gateway uses port 8811.`)
  })

  it('says so when nothing that was given fits', async () => {
    const { choices } = await client.chat.completions.create({
      model: MODEL,
      messages: [{ role: 'user', content: 'Why?' }],
    })
    assert.equal(choices[0]?.message.content, `${NO_MODEL}Nothing in the given text matches: Why?`)
  })

  it('answers the same request the same way, ids included, streamed or not', async () => {
    const asked = { model: MODEL, messages: BRIEFED }
    const first = await client.chat.completions.create(asked)
    const second = await createClient().chat.completions.create(asked)
    const streamed = await client.chat.completions.stream(asked).finalChatCompletion()
    assert.deepEqual({ ...second, created: 0 }, { ...first, created: 0 })
    assert.equal(streamed.id, first.id)
    assert.equal(streamed.choices[0]?.message.content, first.choices[0]?.message.content)
  })

  it('streams word by word, with usage in a last chunk when that is asked for', async () => {
    const stream = await client.chat.completions.create({
      model: MODEL,
      messages: BRIEFED,
      stream: true,
      stream_options: { include_usage: true },
    })
    const chunks = []
    for await (const chunk of stream) chunks.push(chunk)
    const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')
    assert.equal(text, `${NO_MODEL}The staging cluster runs in eu-west.`)
    assert.ok(chunks.length >= 9)
    assert.equal(chunks[0]?.choices[0]?.delta.role, 'assistant')
    assert.equal(chunks.at(-2)?.choices[0]?.finish_reason, 'stop')
    assert.deepEqual(chunks.at(-1)?.choices, [])
    assert.ok((chunks.at(-1)?.usage?.completion_tokens ?? 0) > 0)
    assert.equal(chunks[0]?.usage, null)
  })

  it('streams no usage when that is not asked for', async () => {
    const stream = await client.chat.completions.create({ model: MODEL, messages: BRIEFED, stream: true })
    for await (const chunk of stream) assert.ok(!('usage' in chunk) && chunk.choices.length === 1)
  })

  it('ends at max_tokens and says so', async () => {
    for (const limit of [{ max_tokens: 3 }, { max_completion_tokens: 3 }]) {
      const { choices, usage } = await client.chat.completions.create({ model: MODEL, messages: BRIEFED, ...limit })
      assert.equal(choices[0]?.finish_reason, 'length')
      assert.equal(choices[0]?.message.content, `${NO_MODEL}The stag`)
      assert.equal(usage?.completion_tokens, 3)
    }
  })

  it('ends before a stop sequence', async () => {
    const { choices } = await client.chat.completions.create({ model: MODEL, messages: BRIEFED, stop: [' runs', 'eu'] })
    assert.equal(choices[0]?.message.content, `${NO_MODEL}The staging cluster`)
    assert.equal(choices[0]?.finish_reason, 'stop')
  })

  it('calls a tool that the question asks for, and then answers with its result', async () => {
    let asked = ''
    const runner = client.chat.completions.runTools({
      model: MODEL,
      messages: [{ role: 'user', content: 'What is the weather in Paris?' }],
      tools: [
        {
          type: 'function',
          function: {
            ...WEATHER.function,
            parameters: { ...WEATHER.function.parameters, required: ['city'] },
            parse: (text: string) => z.object({ city: z.string() }).parse(JSON.parse(text)),
            function: ({ city }: { city: string }) => {
              asked = city
              return '18 degrees and dry'
            },
          },
        },
      ],
    })
    assert.equal(await runner.finalContent(), `${NO_MODEL}get_weather answered: 18 degrees and dry`)
    assert.equal(asked, 'Paris')
  })

  it('leaves tools alone that the question does not ask for', async () => {
    const { choices } = await client.chat.completions.create({ model: MODEL, messages: BRIEFED, tools: [WEATHER] })
    assert.equal(choices[0]?.message.tool_calls, undefined)
    assert.equal(choices[0]?.finish_reason, 'stop')
  })

  it('calls a tool where it must, and none where it must not', async () => {
    const asked = { model: MODEL, messages: BRIEFED, tools: [WEATHER] } satisfies ChatCompletionCreateParamsNonStreaming
    const named = { type: 'function', function: { name: 'get_weather' } } as const
    for (const tool_choice of ['required', named] as const) {
      const { choices } = await client.chat.completions.create({ ...asked, tool_choice })
      const [call] = choices[0]?.message.tool_calls ?? []
      assert.ok(call?.type === 'function')
      assert.match(call.id, /^call_[0-9a-f]{24}$/)
      assert.deepEqual(Object.keys(JSON.parse(call.function.arguments)), ['city'])
      assert.equal(choices[0]?.finish_reason, 'tool_calls')
      assert.equal(choices[0]?.message.content, null)
    }
    const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: 'What is the weather in Paris?' }]
    const { choices } = await client.chat.completions.create({ ...asked, messages, tool_choice: 'none' })
    assert.equal(choices[0]?.message.tool_calls, undefined)
  })

  // In time by the square of what is asked, this takes minutes.
  it('takes time in proportion to the length of the question', { timeout: 60_000 }, async () => {
    const tools = Array.from({ length: 1000 }, (_, number) => ({
      type: 'function' as const,
      function: { name: `tool_${number}`, description: 'One of many' },
    }))
    const texts = [' '.repeat(300_000), '“'.repeat(300_000), '.'.repeat(300_000), 'word '.repeat(10_000)]
    for (const text of texts) {
      const content = `Do it: ${text}a`
      await client.chat.completions.create({ model: MODEL, messages: [{ role: 'user', content }] })
      await client.chat.completions.create({
        model: MODEL,
        messages: [{ role: 'user', content }],
        tools,
        tool_choice: 'required',
      })
    }
  })

  it('streams a tool call so that it adds up', async () => {
    const asked = {
      model: MODEL,
      messages: [{ role: 'user' as const, content: 'Use get_weather for "New York City".' }],
      tools: [WEATHER],
    }
    const whole = await client.chat.completions.create(asked)
    const streamed = await client.chat.completions.stream(asked).finalChatCompletion()
    const [call] = streamed.choices[0]?.message.tool_calls ?? []
    assert.ok(call?.type === 'function')
    assert.deepEqual(JSON.parse(call.function.arguments), { city: 'New York City' })
    assert.equal(call.id, whole.choices[0]?.message.tool_calls?.[0]?.id)
    assert.equal(streamed.choices[0]?.finish_reason, 'tool_calls')
  })

  it('gives structured output that the schema accepts, drawn from the text', async () => {
    const Report = z.object({
      summary: z.string(),
      risk: z.enum(['low', 'high']),
      score: z.number().min(0).max(1),
      findings: z.array(z.object({ id: z.string(), text: z.string(), line: z.int().nullable() })).min(2),
    })
    const completion = await client.chat.completions.parse({
      model: MODEL,
      messages: BRIEFED,
      response_format: zodResponseFormat(Report, 'report'),
    })
    const report = completion.choices[0]?.message.parsed
    assert.equal(report?.summary, '[sandbox] The staging cluster runs in eu-west.')
    assert.deepEqual(
      report?.findings.map(({ id }) => id),
      ['f1', 'f2', 'f3'],
    )

    const streamed = client.chat.completions.stream({
      model: MODEL,
      messages: BRIEFED,
      response_format: zodResponseFormat(Report, 'report'),
    })
    assert.deepEqual((await streamed.finalChatCompletion()).choices[0]?.message.parsed, report)
  })

  it('gives a JSON object when any will do', async () => {
    const { choices } = await client.chat.completions.create({
      model: MODEL,
      messages: BRIEFED,
      response_format: { type: 'json_object' },
    })
    assert.deepEqual(JSON.parse(choices[0]?.message.content ?? ''), {
      answer: '[sandbox] The staging cluster runs in eu-west.',
      upstream: 'sandbox',
    })
  })

  it('stops a stream when the caller aborts it', async () => {
    const controller = new AbortController()
    const messages: ChatCompletionMessageParam[] = [
      { role: 'user', content: `Say it? ${'Say it again and again. '.repeat(50)}` },
    ]
    const stream = await client.chat.completions.create(
      { model: MODEL, messages, stream: true },
      { signal: controller.signal },
    )
    let seen = 0
    for await (const _chunk of stream) if (++seen === 3) controller.abort()
    assert.equal(seen, 3)
    await assert.rejects(
      client.chat.completions.create({ model: MODEL, messages }, { signal: controller.signal }),
      APIUserAbortError,
    )
  })

  const refused: [string, object, string][] = [
    ['no messages', { messages: undefined }, 'messages'],
    ['an empty list of messages', { messages: [] }, 'messages'],
    ['no model', { model: undefined }, 'model'],
    ['a role that does not exist', { messages: [{ role: 'judge', content: 'x' }] }, 'messages.0.role'],
    ['several choices', { n: 2 }, 'n'],
    ['a limit of no tokens', { max_tokens: 0 }, 'max_tokens'],
    ['a tool of another kind', { tools: [{ type: 'custom', custom: { name: 'x' } }] }, 'tools.0.type'],
    [
      'a tool choice that names no tool',
      { tools: [WEATHER], tool_choice: { type: 'function', function: { name: 'x' } } },
      'tool_choice',
    ],
    ['a required tool where there is none', { tool_choice: 'required' }, 'tool_choice'],
    ['a tool result without its call', { messages: [{ role: 'tool', tool_call_id: 'c1', content: 'x' }] }, 'messages'],
  ]
  for (const [what, change, param] of refused) {
    it(`refuses ${what}, naming ${param}`, async () => {
      const asked = { model: MODEL, messages: BRIEFED, ...change } as ChatCompletionCreateParamsNonStreaming
      await assert.rejects(client.chat.completions.create(asked), (error) => {
        assert.ok(error instanceof BadRequestError)
        assert.equal(error.param, param)
        assert.equal(error.type, 'invalid_request_error')
        return true
      })
    })
  }
})
