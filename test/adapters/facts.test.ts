import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import OpenAI from 'openai'
import { FACTS, FORGETTING } from '../../adapters/doctor/facts-checks.ts'
import * as strict from '../doubles/strict.ts'
import { until } from '../doubles/until.ts'
import { completion, json, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

let upstream: UpstreamDouble
let running: RunningGateway
before(async () => {
  upstream = await startUpstream()
  running = await startGateway(upstream.url)
})
after(async () => {
  await running.close()
  await upstream.close()
})

const LOOK = { name: 'look', parameters: { type: 'object', properties: {} } }
const user = (content: unknown) => ({ role: 'user', content })
const calls = (id: string, args = '{}') => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 'look', arguments: args } }],
})
const result = (tool_call_id: string) => ({ role: 'tool', tool_call_id, content: 'a cat' })

async function newKey(): Promise<string> {
  const { key } = await running.gateway.keys.create({ name: 'caller', scopes: ['inference'] })
  return key
}

/** Asks with the openai SDK. @returns the answer, what was changed, and how many requests the upstream got */
async function ask(body: object, key = running.key) {
  const client = new OpenAI({ baseURL: `${running.url}/v1`, apiKey: key, maxRetries: 0 })
  const before = upstream.received.length
  const { data, response } = await client.chat.completions
    .create({ messages: [user('Hello')], ...body } as never)
    .withResponse()
  const text = (data as OpenAI.ChatCompletion).choices[0]?.message.content
  return {
    text,
    changed: response.headers.get('x-gazeway-changed'),
    callId: response.headers.get('x-gazeway-call-id') ?? '',
    requests: upstream.received.slice(before).map(({ body: sent }) => sent as Record<string, never>),
  }
}

/** Requests that a server refuses, and what is changed in them. */
const REFUSED: [string, strict.Rule, object, string][] = [
  [
    'system messages in the middle',
    strict.systemAtBeginning,
    {
      messages: [
        { role: 'system', content: 'one' },
        { role: 'system', content: 'two' },
        user('Hello'),
        { role: 'system', content: 'three' },
      ],
    },
    'messages.1=moved, messages.3=rewritten',
  ],
  [
    'a system role that a model lacks',
    strict.noSystemRole,
    { messages: [{ role: 'system', content: 'one' }, user('Hello')] },
    'messages.0=rewritten',
  ],
  [
    'a call without a result',
    strict.pairedTools,
    { messages: [user('Look.'), calls('a'), user('Go on.')] },
    'messages.1.tool_calls.0=added',
  ],
  ['a result without a call', strict.pairedTools, { messages: [user('Look.'), result('a')] }, 'messages.1=rewritten'],
  [
    'a result twice',
    strict.pairedTools,
    { messages: [user('Look.'), calls('a'), result('a'), result('a')] },
    'messages.3=dropped',
  ],
  [
    'a long id of a call',
    strict.shortIds,
    { messages: [user('Look.'), calls('x'.repeat(53)), result('x'.repeat(53))] },
    'messages.1.tool_calls.0.id=rewritten, messages.2.tool_call_id=rewritten',
  ],
  [
    'arguments cut off in the history',
    strict.parsedArguments,
    { messages: [user('Look.'), calls('a', '{"path": "x'), result('a')] },
    'messages.1.tool_calls.0.function.arguments=rewritten',
  ],
  [
    'a schema without properties',
    strict.objectSchemas,
    { tools: [{ type: 'function', function: { ...LOOK, parameters: { type: 'object' } } }] },
    'tools.0.function.parameters=rewritten',
  ],
  [
    'a schema with alternatives at the top',
    strict.objectSchemas,
    {
      tools: [
        {
          type: 'function',
          function: { ...LOOK, parameters: { anyOf: [{ properties: { a: {} } }, { properties: { b: {} } }] } },
        },
      ],
    },
    'tools.0.function.parameters=rewritten',
  ],
  [
    'additionalProperties',
    strict.fewKeywords,
    {
      tools: [
        { type: 'function', function: { ...LOOK, parameters: { ...LOOK.parameters, additionalProperties: false } } },
      ],
    },
    'tools.0.function.parameters=rewritten',
  ],
  ['a temperature', strict.noTemperature, { temperature: 0.2 }, 'temperature=dropped'],
  ['top_k', strict.knownFields, { top_k: 5 }, 'top_k=dropped'],
  ['json_object', strict.noJsonObject, { response_format: { type: 'json_object' } }, 'response_format=rewritten'],
  [
    'an image as a plain text',
    strict.imageObjects,
    { messages: [user([{ type: 'image_url', image_url: 'data:image/jpg;charset=utf-8;base64,QUJD' }])] },
    'messages.0.content.0.image_url=rewritten',
  ],
  [
    'a mark for a cache that the server lacks',
    strict.noCacheMarks,
    { messages: [user([{ type: 'text', text: 'Hello', cache_control: { type: 'ephemeral' } }])] },
    'messages.0.content.0.cache_control=dropped',
  ],
  ['a whole answer', strict.streamsAlone, {}, 'stream=added'],
]

describe('a form of a request that an upstream refuses', () => {
  for (const [index, [what, rule, body, changed]] of REFUSED.entries())
    it(`is mended, named, and remembered: ${what}`, async () => {
      const asked = { model: `model-${index}`, ...body }
      upstream.on('/chat/completions', strict.strictChat(rule))
      const [first, second] = [await ask(asked), await ask(asked)]
      assert.deepEqual([first.text, first.changed, first.requests.length], ['Hello', changed, 2])
      assert.deepEqual([second.text, second.changed, second.requests.length], ['Hello', changed, 1])
    })

  it('is shown in the call record, and by the doctor until it is forgotten', async () => {
    upstream.on('/chat/completions', strict.strictChat(strict.noTemperature))
    const { callId } = await ask({ model: 'shown', temperature: 0.2 })
    const { gateway } = running
    assert.deepEqual((await gateway.calls.find(callId))?.changed, ['temperature=dropped'])
    await until(async () => /\/shown: no_temperature/.test(String(await FACTS.run(gateway))))
    assert.match(String(await FORGETTING.run(gateway)), /^forgotten: [1-9]/)
    assert.match(String(await FACTS.run(gateway)), /no model is known/)
  })

  it('is mended for several faults of one request', async () => {
    upstream.on('/chat/completions', strict.strictChat(strict.noTemperature, strict.knownFields))
    const body = { model: 'several', temperature: 0.2, top_k: 3 }
    assert.equal((await ask(body)).requests.length, 3)
    assert.equal((await ask(body)).requests.length, 1)
  })

  it('is mended for others once a second key has met it', async () => {
    upstream.on('/chat/completions', strict.strictChat(strict.noTemperature))
    const body = { model: 'confirmed', temperature: 0.2 }
    const [one, two, three] = [await newKey(), await newKey(), await newKey()]
    for (const [key, requests] of [
      [one, 2],
      [two, 2],
      [three, 1],
    ] as const)
      assert.equal((await ask(body, key)).requests.length, requests)
  })
})

describe('a refusal that teaches a wrong fact', () => {
  const lie = json(400, { error: { message: "Unsupported parameter: 'temperature'", param: 'temperature' } })

  it('changes no call of another key', async () => {
    upstream.on('/chat/completions', lie, json(200, completion('Hello')))
    const body = { model: 'liar', temperature: 0.2 }
    assert.equal((await ask(body)).changed, 'temperature=dropped')
    const { requests, changed } = await ask(body, await newKey())
    assert.deepEqual([requests[0]?.temperature, requests.length, changed], [0.2, 1, null])
  })

  it('is one of its own where a key has it quoted, and sets no limit for others', async () => {
    const [key, other] = [await newKey(), await newKey()]
    const words = "Unsupported parameter: 'temperature'. max_tokens is too large: this model supports at most 5 tokens"
    const quotes = json(400, { error: { message: `Blocked by policy: ${words}` } })
    upstream.on('/chat/completions', quotes, json(200, completion('Hello')))
    const body = { model: 'quoted', temperature: 0.2, max_tokens: 900 }
    assert.equal((await ask({ ...body, messages: [user(words)] }, key)).changed, 'temperature=dropped')
    const { requests } = await ask(body, other)
    assert.deepEqual([requests.length, requests[0]?.temperature, requests[0]?.max_tokens], [1, 0.2, 900])
    assert.equal((await ask(body, key)).requests[0]?.max_tokens, 900)
  })

  it('is not remembered when the mended request is refused too', async () => {
    const quoted = json(400, { error: { message: "No such tool: 'temperature is not supported'" } })
    upstream.on('/chat/completions', quoted)
    const body = { model: 'quoting', temperature: 0.2 }
    await assert.rejects(ask(body), /No such tool/)
    upstream.on('/chat/completions', json(200, completion('Hello')))
    const { requests } = await ask(body)
    assert.deepEqual([requests[0]?.temperature, requests.length], [0.2, 1])
  })
})
