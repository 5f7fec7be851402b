import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import OpenAI, { BadRequestError, NotFoundError } from 'openai'
import { zodTextFormat } from 'openai/helpers/zod'
import type { ResponseCreateParamsNonStreaming, ResponseStreamEvent, Tool } from 'openai/resources/responses/responses'
import * as z from 'zod'
import { createSandbox } from '../../src/inference/sandbox/sandbox.ts'
import { NO_MODEL } from '../../src/inference/sandbox/text-prefix.ts'

const sandbox = createSandbox()
const client = new OpenAI({
  baseURL: 'http://sandbox.local/v1',
  apiKey: 'none',
  maxRetries: 0,
  fetch: (url, init) => sandbox.fetch(new Request(url, init)),
})
const MODEL = 'grok-4.20-multi-agent-beta-0309'

/** xAI's tool is not among OpenAI's types. */
const SEARCHES = [{ type: 'web_search' }, { type: 'x_search' }] as unknown as Tool[]

const BRIEFED = {
  model: MODEL,
  instructions: 'Never say where the staging cluster runs.',
  input: 'Where does the staging cluster run? The staging cluster runs in eu-west. Escrows expire after a day.',
} satisfies ResponseCreateParamsNonStreaming

const LOOKUP = {
  type: 'function',
  name: 'lookup_owner',
  description: 'Who owns a service',
  parameters: {
    type: 'object',
    properties: { service: { type: 'string' } },
    required: ['service'],
    additionalProperties: false,
  },
  strict: true,
} as const

async function eventsOf(asked: ResponseCreateParamsNonStreaming): Promise<ResponseStreamEvent[]> {
  const events = []
  for await (const event of await client.responses.create({ ...asked, stream: true })) events.push(event)
  return events
}

describe('responses of the sandbox', () => {
  it('answers from what the user says, with every key of a response', async () => {
    const response = await client.responses.create(BRIEFED)
    assert.equal(response.output_text, `${NO_MODEL}The staging cluster runs in eu-west.`)
    assert.equal(response.status, 'completed')
    assert.ok(
      response.usage && response.usage.total_tokens === response.usage.input_tokens + response.usage.output_tokens,
    )
    const keys = `id object created_at status background completed_at conversation error incomplete_details instructions
      max_output_tokens max_tool_calls metadata model output parallel_tool_calls previous_response_id prompt prompt_cache_key
      prompt_cache_retention reasoning safety_identifier service_tier store temperature text tool_choice tools top_logprobs
      top_p truncation usage user presence_penalty frequency_penalty`
    for (const key of keys.split(/\s+/)) assert.ok(key in response, key)
  })

  it('gives back what the request set', async () => {
    const set = { temperature: 0.2, metadata: { team: 'a' }, max_output_tokens: 500, tools: [LOOKUP], user: 'u1' }
    const response = await client.responses.create({ ...BRIEFED, ...set })
    for (const [key, value] of Object.entries(set)) assert.deepEqual(response[key as keyof typeof response], value)
  })

  it('gives a function back with every key, and a search as it was asked for', async () => {
    const bare = { type: 'function', name: 'lookup_owner' }
    const set = { tools: [bare, ...SEARCHES], presence_penalty: 0.5, tool_choice: { type: 'web_search' } }
    const response = await client.responses.create({ ...BRIEFED, ...(set as object) })
    assert.deepEqual(response.tools, [{ ...bare, description: null, parameters: null, strict: null }, ...SEARCHES])
    assert.deepEqual(response.tool_choice, { type: 'web_search' })
    assert.deepEqual(
      Object.entries(response).filter(([key]) => key.endsWith('_penalty')),
      [
        ['frequency_penalty', 0],
        ['presence_penalty', 0.5],
      ],
    )
  })

  it('searches where it may, and cites what it found at the place where it says so', async () => {
    const response = await client.responses.create({ ...BRIEFED, tools: SEARCHES })
    const [web, social, message] = response.output
    assert.ok(web?.type === 'web_search_call' && web.action.type === 'search')
    assert.equal(web.action.query, 'staging cluster run west escrow expire')
    assert.ok(social?.type === 'custom_tool_call' && social.name === 'x_keyword_search')
    assert.equal(JSON.parse(social.input).query, 'staging cluster run west escrow expire')

    assert.ok(message?.type === 'message' && message.content[0]?.type === 'output_text')
    const { text, annotations } = message.content[0]
    assert.equal(annotations.length, 3)
    for (const annotation of annotations) {
      assert.ok(annotation.type === 'url_citation')
      assert.match(annotation.url, /^https:\/\/sandbox\.invalid\/(web|x)\//)
      assert.match(annotation.title, /sandbox/i)
      assert.ok(text.slice(annotation.start_index, annotation.end_index).includes(annotation.url))
    }
  })

  it('searches with the tool that is chosen, and not when the choice is none', async () => {
    const chosen = await client.responses.create({
      ...BRIEFED,
      tools: SEARCHES,
      tool_choice: { type: 'web_search_preview' },
    })
    assert.deepEqual(
      chosen.output.map((item) => item.type),
      ['web_search_call', 'message'],
    )
    const none = await client.responses.create({ ...BRIEFED, tools: SEARCHES, tool_choice: 'none' })
    assert.deepEqual(
      none.output.map((item) => item.type),
      ['message'],
    )
  })

  it('streams its events in the documented order, numbered', async () => {
    const events = await eventsOf({ ...BRIEFED, tools: SEARCHES })
    assert.deepEqual(
      events.map((event) => event.sequence_number),
      events.map((_, at) => at),
    )
    const types = events.map((event) => event.type.replace(/^response\./, ''))
    const inRuns = types.filter((type, at) => type !== types[at - 1])
    assert.deepEqual(inRuns, [
      'created',
      'in_progress',
      'output_item.added',
      'web_search_call.in_progress',
      'web_search_call.searching',
      'web_search_call.completed',
      'output_item.done',
      'output_item.added',
      'custom_tool_call_input.delta',
      'custom_tool_call_input.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.annotation.added',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ])
  })

  it('streams what adds up to the whole response', async () => {
    for (const asked of [
      BRIEFED,
      { ...BRIEFED, tools: SEARCHES },
      { ...BRIEFED, tools: [LOOKUP], tool_choice: 'required' as const },
    ]) {
      const whole = await client.responses.create(asked)
      const streamed = await client.responses.stream(asked).finalResponse()
      assert.equal(streamed.id, whole.id)
      assert.equal(streamed.output_text, whole.output_text)
      assert.deepEqual(
        streamed.output.map((item) => ({ type: item.type, id: item.id })),
        whole.output.map((item) => ({ type: item.type, id: item.id })),
      )
      assert.deepEqual(streamed.usage, whole.usage)
    }
  })

  it('is incomplete at max_output_tokens, in a stream too', async () => {
    const asked = { ...BRIEFED, tools: SEARCHES, max_output_tokens: 4 }
    const response = await client.responses.create(asked)
    assert.equal(response.status, 'incomplete')
    assert.deepEqual(response.incomplete_details, { reason: 'max_output_tokens' })
    assert.equal(response.usage?.output_tokens, 4)
    const message = response.output.at(-1)
    assert.ok(message?.type === 'message' && message.status === 'incomplete')
    assert.ok(message.content[0]?.type === 'output_text' && message.content[0].annotations.length === 0)
    assert.equal((await eventsOf(asked)).at(-1)?.type, 'response.incomplete')
  })

  it('continues an earlier response', async () => {
    const first = await client.responses.create({ model: MODEL, input: 'Anna owns the billing service.' })
    const second = await client.responses.create({
      model: MODEL,
      input: 'Who owns billing?',
      previous_response_id: first.id,
    })
    assert.equal(second.output_text, `${NO_MODEL}Anna owns the billing service.`)
    assert.equal(second.previous_response_id, first.id)
  })

  it('does not continue what is unknown or was not stored', async () => {
    const unstored = await client.responses.create({ model: MODEL, input: 'Keep this to yourself.', store: false })
    for (const previous_response_id of ['resp_none', unstored.id]) {
      await assert.rejects(client.responses.create({ ...BRIEFED, previous_response_id }), (error) => {
        assert.ok(error instanceof NotFoundError)
        assert.equal(error.param, 'previous_response_id')
        return true
      })
    }
  })

  it('calls a function, and answers with its output', async () => {
    const asked = { model: MODEL, input: 'Use lookup_owner for "billing".', tools: [LOOKUP] }
    const first = await client.responses.create(asked)
    const [call] = first.output
    assert.ok(call?.type === 'function_call' && call.name === 'lookup_owner')
    assert.deepEqual(JSON.parse(call.arguments), { service: 'billing' })
    const output = { type: 'function_call_output', call_id: call.call_id, output: 'Anna' } as const

    const byId = await client.responses.create({ ...asked, previous_response_id: first.id, input: [output] })
    assert.equal(byId.output_text, `${NO_MODEL}lookup_owner answered: Anna`)
    const byItems = await client.responses.create({
      ...asked,
      input: [{ role: 'user', content: asked.input }, call, output],
    })
    assert.equal(byItems.output_text, byId.output_text)
  })

  it('gives structured output that the schema accepts', async () => {
    const Finding = z.object({ title: z.string().max(40), lines: z.array(z.int().positive()) })
    const response = await client.responses.parse({
      ...BRIEFED,
      tools: SEARCHES,
      text: { format: zodTextFormat(Finding, 'finding') },
    })
    assert.match(response.output_parsed?.title ?? '', /^\[sandbox\] The staging cluster/)
  })

  const refused: [string, object, string][] = [
    ['no input', { input: undefined }, 'input'],
    ['no model', { model: undefined }, 'model'],
    ['an item without a role', { input: [{ content: 'x' }] }, 'input'],
    ['a tool that it does not have', { tools: [{ type: 'code_interpreter' }] }, 'tools.0.type'],
    ['an output without its call', { input: [{ type: 'function_call_output', call_id: 'c1', output: 'x' }] }, 'input'],
  ]
  for (const [what, change, param] of refused) {
    it(`refuses ${what}, naming ${param}`, async () => {
      const asked = { ...BRIEFED, ...change } as ResponseCreateParamsNonStreaming
      await assert.rejects(client.responses.create(asked), (error) => {
        assert.ok(error instanceof BadRequestError)
        assert.equal(error.param, param)
        return true
      })
    })
  }
})
