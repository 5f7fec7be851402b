import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { WebSocket } from 'ws'
import type * as z from 'zod'
import * as double from '../doubles/open-responses.ts'
import { until } from '../doubles/until.ts'
import { fails, startUpstream } from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'
import { eventsOf } from './http-gateway.ts'

type Fields = Record<string, unknown>
type Response = z.infer<typeof double.ResponseResource>

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC'
const PDF = `data:application/pdf;base64,${Buffer.from('%PDF-1.1\n%%EOF').toString('base64')}`
const GET_WEATHER = {
  ...{ type: 'function', name: 'get_weather', description: 'The current weather of a place' },
  parameters: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
}
const said = (role: string, content: unknown, more: Fields = {}) => ({ type: 'message', role, content, ...more })
const asked = (content: unknown) => [said('user', content)]

const completed = ({ status, output }: Response) => {
  assert.deepEqual([status, output.length > 0], ['completed', true])
}
const outputs = (type: string) => (response: Response) => {
  assert.ok(
    response.output.some((item) => item.type === type),
    JSON.stringify(response.output),
  )
}

/** Cases of one request, by their ids in the suite: what is sent, and what is expected of the answer. */
const REQUESTS: Readonly<Record<string, [body: Fields, expects: (response: Response) => void]>> = {
  'basic-response': [{ input: asked('Say hello in three words.') }, completed],
  'assistant-phase': [
    {
      input: [
        said('user', 'What is two and two?'),
        said('assistant', 'I am counting.', { phase: 'commentary' }),
        said('assistant', 'Four.', { phase: 'final_answer' }),
        said('user', 'And three?'),
      ],
    },
    completed,
  ],
  'system-prompt': [{ input: [said('system', 'Answer as a pirate.'), ...asked('Say hello.')] }, completed],
  'tool-calling': [
    { input: asked('How is the weather in San Francisco?'), tools: [GET_WEATHER] },
    outputs('function_call'),
  ],
  'image-input': [
    {
      input: asked([
        { type: 'input_text', text: 'What is this?' },
        { type: 'input_image', image_url: PIXEL },
      ]),
    },
    completed,
  ],
  'file-input': [
    {
      input: asked([
        { type: 'input_text', text: 'Its title?' },
        { type: 'input_file', filename: 'a.pdf', file_data: PDF },
      ]),
    },
    completed,
  ],
  'multi-turn': [
    { input: [...asked('I am Alice.'), said('assistant', 'Hello Alice!'), ...asked('What is my name?')] },
    completed,
  ],
  'streaming-response': [{ stream: true, input: asked('Count to five.') }, completed],
  'tool-calling-streaming': [
    { stream: true, input: asked('How is the weather in San Francisco?'), tools: [GET_WEATHER] },
    outputs('function_call'),
  ],
}

/** Cases of tools that a provider runs: its own API has them alone. */
const HOSTED: typeof REQUESTS = {
  'file-search': [
    {
      input: 'Search.',
      tools: [{ type: 'file_search', vector_store_ids: ['store'] }],
      tool_choice: { type: 'file_search' },
    },
    outputs('file_search_call'),
  ],
  'offline-web-search': [
    {
      input: 'Find.',
      tools: [{ type: 'web_search', external_web_access: false }],
      tool_choice: { type: 'web_search' },
    },
    outputs('web_search_call'),
  ],
}

let running: RunningGateway
const native = await startUpstream()
const chat = await startUpstream()
const claude = await startUpstream()
before(async () => {
  const { responses, compact } = double.nativeResponses()
  native.on('/responses', responses)
  native.on('/responses/compact', compact)
  chat.on('/responses', fails(404))
  chat.on('/chat/completions', double.chatModel)
  claude.on('/messages', double.messagesModel)
  const api_keys = ['secret-of-the-double']
  running = await startGateway(
    native.url,
    {},
    {
      upstream: { aliases: {} },
      upstreams: {
        chat: { provider: chat.url, api_keys },
        claude: { provider: 'anthropic', base_url: claude.url, api_keys },
      },
    },
  )
})
after(async () => {
  await running.close()
  for (const one of [native, chat, claude]) await one.close()
})

const post = (path: string, body: Fields) =>
  fetch(`${running.url}/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${running.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

async function respond(body: Fields): Promise<Response> {
  const reply = await post('/responses', body)
  const text = await reply.text()
  assert.equal(reply.status, 200, text)
  return body.stream === true ? lastOf(eventsOf(text)) : double.ResponseResource.parse(JSON.parse(text))
}

/** Checks the events of a stream. @returns the Response of the last one */
function lastOf(events: Fields[]): Response {
  const read = events.map((event) => double.StreamEvent.parse(event))
  assert.deepEqual(
    read.map(({ sequence_number }) => sequence_number),
    read.map((_, number) => number),
  )
  const types = new Set(read.map(({ type }) => type))
  const { response } = events.at(-1) as { response: Response }
  if (response.output.some(({ type }) => type === 'function_call'))
    for (const type of ['response.function_call_arguments.delta', 'response.function_call_arguments.done'] as const)
      assert.ok(types.has(type), type)
  return response
}

/** Opens a connection that sends messages one after another. */
async function connect() {
  const ws = new WebSocket(`${running.url.replace('http', 'ws')}/v1/responses`, {
    headers: { authorization: `Bearer ${running.key}` },
  })
  await once(ws, 'open')
  const messages: Fields[] = []
  ws.on('message', (data) => void messages.push(JSON.parse(String(data))))
  async function turn(body: Fields): Promise<Fields[]> {
    ws.send(JSON.stringify({ type: 'response.create', ...body }))
    const isEnd = ({ type }: Fields) => type === 'response.completed' || type === 'error'
    await until(() => messages.some(isEnd), { what: () => `the end of a turn after ${JSON.stringify(messages)}` })
    return messages.splice(0)
  }
  return {
    ws,
    respond: async (body: Fields) => lastOf(await turn(body)),
    refused: async (body: Fields) => double.SocketError.parse((await turn(body)).at(-1)),
  }
}

describe('the kinds of the Open Responses suite', { timeout: 30_000 }, () => {
  for (const [way, model] of [
    ['a responses endpoint', 'm'],
    ['chat completions', 'chat/m'],
    ['Messages', 'claude/m'],
  ] as const) {
    it(`pass over ${way}`, async () => {
      const cases = model === 'm' ? { ...REQUESTS, ...HOSTED } : REQUESTS
      for (const [id, [body, expects]] of Object.entries(cases)) {
        try {
          expects(await respond({ ...body, model }))
        } catch (error) {
          assert.fail(`${id}: ${error}`)
        }
      }
    })

    it(`pass over ${way}, in two requests: function-call-roundtrip and previous-response-id`, async () => {
      const tools = { tools: [GET_WEATHER], tool_choice: { type: 'function', name: 'get_weather' } }
      const question = asked('Use the tool for San Francisco.')
      const { output } = await respond({ model, input: question, ...tools })
      const [call] = output
      assert.equal(call?.type, 'function_call')
      const result = { type: 'function_call_output', call_id: (call as { call_id: string }).call_id, output: '18 °C' }
      completed(await respond({ model, input: [...question, call, result], tools: [GET_WEATHER] }))

      const first = await respond({ model, input: 'Remember the word papaya.' })
      completed(await respond({ model, input: 'Which word?', previous_response_id: first.id }))
    })

    it(`pass over ${way} and WebSocket`, async (t) => {
      const [one, other] = [await connect(), await connect()]
      t.after(() => [one, other].map(({ ws }) => ws.terminate()))
      const own = { model, store: false }

      completed(await one.respond({ model, input: asked('websocket-response') }))
      for (const word of ['first', 'second']) completed(await one.respond({ ...own, input: `Say ${word}.` }))

      const { id } = await one.respond({ ...own, input: 'websocket-continuation' })
      const next = await one.respond({ ...own, previous_response_id: id, input: 'Which word?' })
      completed(next)

      const continued = { ...own, previous_response_id: next.id, input: 'Go on.' }
      const reconnected = await other.refused(continued)
      assert.equal(reconnected.error.code, 'previous_response_not_found')
      completed(await other.respond({ ...own, input: 'websocket-reconnect-store-false-recovery' }))

      const warm = await one.respond({ ...own, input: 'websocket-generate-false', generate: false })
      completed(await one.respond({ ...own, previous_response_id: warm.id, input: 'Go on.' }))

      const missing = await one.refused({ ...own, previous_response_id: 'resp_missing_1', input: 'Go on.' })
      assert.equal(missing.error.code, 'previous_response_not_found')

      const ember = await one.respond({ ...own, input: 'websocket-failed-continuation-evicts-cache' })
      const after = { ...own, previous_response_id: ember.id }
      const result = { type: 'function_call_output', call_id: 'call_missing', output: 'Nothing called it.' }
      assert.equal((await one.refused({ ...after, input: [result] })).status, 400)
      assert.equal((await one.refused({ ...after, input: 'Go on.' })).error.code, 'previous_response_not_found')
    })
  }

  it('pass where it compacts: compact-response, compact-missing-model, websocket-compact-new-chain', async (t) => {
    const input = [said('user', 'We launch on Tuesday.'), said('assistant', 'Understood.')]
    const { ws, respond } = await connect()
    t.after(() => ws.terminate())
    for (const model of ['m', 'chat/m', 'claude/m']) {
      const compacted = await post('/responses/compact', { model, input, prompt_cache_key: 'compact' })
      const { object, output } = (await compacted.json()) as { object: string; output: Fields[] }
      assert.deepEqual([object, output.at(-1)?.type], ['response.compaction', 'compaction'], model)
      completed(await respond({ model, store: false, input: [...output, ...asked('When do we launch?')] }))
    }
    assert.ok([400, 422].includes((await post('/responses/compact', { input })).status))
  })
})
