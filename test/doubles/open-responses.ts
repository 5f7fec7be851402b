import * as z from 'zod'
import { responseEvents } from '../../src/inference/convert/response-events.ts'
import { message, messageStream, named } from './anthropic.ts'
import { type Behaviour, chunks, completion, json, type Received, sse } from './upstream.ts'

type Fields = Record<string, unknown>
const list = (value: unknown): Fields[] => (Array.isArray(value) ? value : [])

const nothingOr = <T extends z.ZodType>(type: T) => z.union([type, z.null()])
const count = z.int()
const text = z.string()
const status = z.enum(['in_progress', 'completed', 'incomplete'])

/** Items of an output, by the reference of Open Responses (https://www.openresponses.org/reference). */
const Item = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message'),
    id: text,
    status,
    role: z.literal('assistant'),
    content: z.array(
      z.object({
        type: z.literal('output_text'),
        text,
        annotations: z.array(z.object({})),
        logprobs: z.array(z.object({})),
      }),
    ),
  }),
  z.object({ type: z.literal('function_call'), id: text, call_id: text, name: text, arguments: text, status }),
  z.object({ type: z.enum(['web_search_call', 'file_search_call']), id: text, status: text }),
])

/** The resource of a Response: every field has to be there. */
export const ResponseResource = z.object({
  ...{ id: text, object: z.literal('response'), status: text, model: text, service_tier: text },
  ...{ created_at: count, completed_at: nothingOr(count), top_logprobs: count },
  ...{ top_p: z.number(), temperature: z.number(), presence_penalty: z.number(), frequency_penalty: z.number() },
  ...{ parallel_tool_calls: z.boolean(), store: z.boolean(), background: z.boolean() },
  ...{ previous_response_id: nothingOr(text), instructions: nothingOr(text), safety_identifier: nothingOr(text) },
  ...{ prompt_cache_key: nothingOr(text), max_output_tokens: nothingOr(count), max_tool_calls: nothingOr(count) },
  ...{ output: z.array(Item), error: z.null(), incomplete_details: z.null(), metadata: z.record(text, text) },
  truncation: z.enum(['auto', 'disabled']),
  text: z.object({ format: z.object({ type: text }) }),
  reasoning: nothingOr(z.object({ effort: nothingOr(text), summary: nothingOr(text) })),
  tool_choice: z.union([text, z.object({ type: text })]),
  tools: z.array(z.object({ type: text })),
  usage: nothingOr(
    z.object({
      ...{ input_tokens: count, output_tokens: count, total_tokens: count },
      input_tokens_details: z.object({ cached_tokens: count }),
      output_tokens_details: z.object({ reasoning_tokens: count }),
    }),
  ),
})

const at = { sequence_number: count, output_index: count, item_id: text }
const begun = { sequence_number: count, response: z.object({ id: text, status: text, output: z.array(z.object({})) }) }
const event = <T extends string, S extends z.ZodRawShape>(type: T, fields: S) =>
  z.object({ type: z.literal(type), ...fields })

/** The events of a stream. */
export const StreamEvent = z.discriminatedUnion('type', [
  event('response.created', begun),
  event('response.in_progress', begun),
  event('response.completed', { sequence_number: count, response: ResponseResource }),
  event('response.output_item.added', { sequence_number: count, output_index: count, item: z.object({ id: text }) }),
  event('response.output_item.done', { sequence_number: count, output_index: count, item: Item }),
  event('response.content_part.added', { ...at, content_index: count, part: z.object({ type: text }) }),
  event('response.content_part.done', { ...at, content_index: count, part: z.object({ type: text }) }),
  event('response.output_text.delta', { ...at, content_index: count, delta: text, logprobs: z.array(z.object({})) }),
  event('response.output_text.done', { ...at, content_index: count, text, logprobs: z.array(z.object({})) }),
  event('response.function_call_arguments.delta', { ...at, delta: text }),
  event('response.function_call_arguments.done', { ...at, arguments: text }),
])

/** The error of a stream over WebSocket. */
export const SocketError = z.object({
  type: z.literal('error'),
  status: count,
  error: z.object({ type: text, code: text, message: text }),
})

const WEATHER = '{"location":"San Francisco, CA"}'

/** Tells whether a model is to call the tool that it was given, and was not answered yet. */
const isToCall = (tools: unknown, told: Fields[]): boolean =>
  list(tools).length > 0 && !told.some(({ type, role }) => type === 'function_call_output' || role === 'tool')

/** A server with a responses endpoint that stores what it answers, unless `store` is false. */
export function nativeResponses(): { responses: Behaviour; compact: Behaviour } {
  const stored = new Map<unknown, Fields[]>()
  let made = 0
  const refused = (status: number, message: string, code: string | null, param: string) =>
    json(status, { error: { type: 'invalid_request_error', message, code, param } })

  function answered({ body }: Received): Behaviour {
    const asked = body as Fields
    const { previous_response_id: previous = null, input, tools = [], store = true, stream } = asked
    const earlier = previous === null ? [] : stored.get(previous)
    if (earlier === undefined)
      return refused(
        404,
        `Previous response with id '${previous}' not found.`,
        'previous_response_not_found',
        'previous_response_id',
      )
    const told = [...earlier, ...(typeof input === 'string' ? [{ role: 'user', content: input }] : list(input))]
    const open = told.find(
      ({ type, call_id: id }) =>
        type === 'function_call_output' && !told.some((item) => item.type === 'function_call' && item.call_id === id),
    )
    if (open)
      return refused(400, `No tool call found for function call output with call_id ${open.call_id}.`, null, 'input')
    const id = ++made
    const hosted = list(tools).find(({ type }) => type !== 'function')
    const said = {
      ...{ type: 'message', id: `msg_${id}`, status: 'completed', role: 'assistant' },
      content: [{ type: 'output_text', text: 'Hello back.', annotations: [], logprobs: [] }],
    }
    const call = {
      type: 'function_call',
      id: `fc_${id}`,
      call_id: `call_${id}`,
      name: 'get_weather',
      arguments: WEATHER,
    }
    const output: Fields[] = hosted
      ? [{ type: `${hosted.type}_call`, id: `ws_${id}`, status: 'completed' }, said]
      : [isToCall(tools, told) ? { ...call, status: 'completed' } : said]
    if (store) stored.set(`resp_${id}`, [...told, ...output])
    const whole = resource({ ...asked, store }, `resp_${id}`, output)
    return stream === true ? sse([...responseEvents(whole)]) : json(200, whole)
  }
  return {
    responses: (response, request) => answered(request)(response, request),
    compact(response, request) {
      const { model } = request.body as Fields
      const missing = refused(400, "Missing required parameter: 'model'.", 'missing_required_parameter', 'model')
      const usage = { input_tokens: 20, output_tokens: 7, total_tokens: 27 }
      const output = [{ type: 'compaction', id: `cmp_${++made}`, encrypted_content: 'gAAAAA' }]
      const whole = { id: `resp_${made}`, object: 'response.compaction', created_at: 1_760_000_000, output, usage }
      return (model === undefined ? missing : json(200, whole))(response, request)
    },
  }
}

const resource = (asked: Fields, id: string, output: Fields[]) => ({
  ...{ id, object: 'response', created_at: 1_760_000_000, completed_at: 1_760_000_001, status: 'completed' },
  ...{ incomplete_details: null, error: null, model: 'double-native', output, instructions: null },
  previous_response_id: asked.previous_response_id ?? null,
  ...{ tools: asked.tools ?? [], tool_choice: asked.tool_choice ?? 'auto', truncation: 'disabled' },
  ...{ parallel_tool_calls: true, text: { format: { type: 'text' } }, top_p: 1, temperature: 1, top_logprobs: 0 },
  ...{ presence_penalty: 0, frequency_penalty: 0, reasoning: { effort: null, summary: null }, max_tool_calls: null },
  usage: {
    ...{ input_tokens: 20, output_tokens: 7, total_tokens: 27 },
    ...{ input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } },
  },
  ...{ max_output_tokens: null, store: asked.store, background: false, service_tier: 'default', metadata: {} },
  ...{ safety_identifier: null, prompt_cache_key: asked.prompt_cache_key ?? null },
})

/** A server of chat completions. */
export const chatModel: Behaviour = (response, request) => {
  const { messages, tools, stream } = request.body as Fields
  const call = { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: WEATHER } }
  const calls = isToCall(tools, list(messages)) ? [call] : []
  const [first] = chunks([])
  const chunk = (delta: object, finish_reason: string | null) => ({
    ...first,
    choices: [{ index: 0, delta, finish_reason }],
  })
  const streamed =
    calls.length === 0
      ? chunks(['Hello ', 'back.'])
      : [chunk({ tool_calls: [{ ...call, index: 0 }] }, null), chunk({}, 'tool_calls'), ...chunks([]).slice(-1)]
  const whole = completion('Hello back.')
  const called = {
    index: 0,
    message: { role: 'assistant', content: null, tool_calls: calls },
    finish_reason: 'tool_calls',
  }
  const answer =
    stream === true ? sse(streamed) : json(200, calls.length === 0 ? whole : { ...whole, choices: [called] })
  return answer(response, request)
}

/** A server of Messages. */
export const messagesModel: Behaviour = (response, request) => {
  const { messages, tools, stream } = request.body as Fields
  const results = list(messages)
    .flatMap(({ content }) => list(content))
    .filter(({ type }) => type === 'tool_result')
  const isCall = list(tools).length > 0 && results.length === 0
  const block = { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: JSON.parse(WEATHER) }
  const [start] = messageStream([])
  const events = [
    start as object,
    { type: 'content_block_start', index: 0, content_block: { ...block, input: {} } },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: WEATHER } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ]
  if (stream === true) return named(isCall ? events : messageStream(['Hello ', 'back.']))(response, request)
  return json(200, isCall ? message([block], { stop_reason: 'tool_use' }) : message('Hello back.'))(response, request)
}
