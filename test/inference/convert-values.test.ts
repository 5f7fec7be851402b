import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { NO_SESSION } from '../../src/calls/call-session.ts'
import { GazewayError } from '../../src/errors.ts'
import type { ChatChunk } from '../../src/inference/api/requests.ts'
import { createGeminiStream, toGeminiReply } from '../../src/inference/convert/chat-to-gemini.ts'
import { toMessage } from '../../src/inference/convert/chat-to-message.ts'
import { createMessageEvents } from '../../src/inference/convert/chat-to-message-events.ts'
import { toMessagesFromChat } from '../../src/inference/convert/chat-to-messages.ts'
import { toResponse } from '../../src/inference/convert/chat-to-response.ts'
import { completionEvents, createResponseEvents } from '../../src/inference/convert/chat-to-response-events.ts'
import { completionChunks } from '../../src/inference/convert/completion-chunks.ts'
import { withWritten } from '../../src/inference/convert/gemini-json.ts'
import { geminiRequest } from '../../src/inference/convert/gemini-request.ts'
import { toChatFromGemini } from '../../src/inference/convert/gemini-to-chat.ts'
import { joinMessage, messageEvents } from '../../src/inference/convert/message-events.ts'
import { toCompletion } from '../../src/inference/convert/message-to-chat.ts'
import { createCompletionChunks } from '../../src/inference/convert/message-to-chat-chunks.ts'
import { toChatFromMessages } from '../../src/inference/convert/messages-to-chat.ts'
import { toChatRequest } from '../../src/inference/convert/responses-to-chat.ts'
import { chatOverMessages } from '../../src/inference/passages/chat-over-messages.ts'
import { geminiOverChat } from '../../src/inference/passages/gemini-over-chat.ts'
import type { Passage } from '../../src/inference/passages/passage.ts'
import { responseOverChat } from '../../src/inference/passages/response-over-chat.ts'
import { WrongTypeError } from '../../src/text/typed-reader.ts'
import { runsOf } from '../doubles/runs.ts'

/** A conversion, and what it leaves out by design: a pattern of dotted paths, and the reason. */
interface Conversion {
  name: string
  given: fc.Arbitrary<object>
  /** Further fields of a request. Most are refused, and a refusal says nothing of the others. */
  rare?: Record<string, fc.Arbitrary<unknown>>
  /** @param note notes what was dropped, for the client to be told */
  convert(given: object, note: (path: string) => void): unknown
  dropped: ReadonlyArray<readonly [path: RegExp, reason: string]>
}

// Each value is a mark that occurs nowhere else, so that it can be found again.
const mark = fc.uuid()
const url = mark.map((of) => `https://example.org/${of}`)
const count = fc.integer({ min: 1_000_000, max: 9_999_999 })
const share = count.map((of) => of / 10_000_000)
const some = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }, requiredKeys: (keyof T)[] = []) =>
  fc.record(fields, { requiredKeys: requiredKeys as never })
const one = <T>(value: T) => fc.constant(value)
const few = <T>(of: fc.Arbitrary<T>) => fc.array(of, { minLength: 1, maxLength: 2 })
const schema = mark.map((title) => ({ type: 'object', title }))
const sampling = { temperature: share, top_p: share }
const args = mark.map((at) => JSON.stringify({ at }))
const dataUrl = mark.map((of) => `data:application/pdf;base64,${of}`)

const chatCall = fc.record({ id: mark, type: one('function'), function: fc.record({ name: mark, arguments: args }) })
const chatPart = fc.oneof(
  fc.record({ type: one('text'), text: mark }),
  fc.record({ type: one('image_url'), image_url: fc.oneof(url, some({ url, detail: one('low') }, ['url'])) }),
  fc.record({ type: one('file'), file: some({ file_data: dataUrl, filename: mark }, ['file_data']) }),
)
const textPart = fc.record({ type: one('text'), text: mark })
const chatRequest = some(
  {
    messages: few(
      fc.oneof(
        fc.record({ role: fc.constantFrom('system', 'developer'), content: fc.oneof(mark, few(textPart)) }),
        some({ role: one('user'), content: fc.oneof(mark, few(chatPart)), name: mark }, ['role', 'content']),
        some(
          { role: one('assistant'), content: mark, refusal: mark, tool_calls: few(chatCall), reasoning_content: mark },
          ['role'],
        ),
        fc.record({ role: one('tool'), tool_call_id: mark, content: fc.oneof(mark, few(textPart)) }),
      ),
    ),
    ...sampling,
    max_tokens: count,
    stop: fc.oneof(mark, few(mark)),
    user: mark,
    seed: count,
    service_tier: mark,
    prompt_cache_key: mark,
    metadata: fc.record({ of: mark }),
    parallel_tool_calls: fc.boolean(),
    response_format: fc.record({
      type: one('json_schema'),
      json_schema: some({ name: mark, description: mark, schema }, ['name', 'schema']),
    }),
    tools: few(
      fc.record({
        type: one('function'),
        function: some({ name: mark, description: mark, parameters: schema }, ['name']),
      }),
    ),
  },
  ['messages'],
).chain((asked) =>
  asked.tools
    ? fc
        .option(fc.record({ type: one('function'), function: fc.record({ name: mark }) }), { nil: 'auto' })
        .map((tool_choice) => ({
          ...asked,
          tool_choice,
        }))
    : one(asked),
)

const source = fc.oneof(
  fc.record({ type: one('base64'), media_type: one('image/png'), data: mark }),
  fc.record({ type: one('url'), url }),
)
const textBlock = some({ type: one('text'), text: mark, citations: fc.array(fc.record({ url })) }, ['type', 'text'])
const userBlock = fc.oneof(
  textBlock,
  fc.record({ type: one('image'), source }),
  some(
    {
      type: one('document'),
      source: fc.oneof(
        fc.record({ type: one('text'), media_type: one('text/plain'), data: mark }),
        fc.record({ type: one('base64'), media_type: one('application/pdf'), data: mark }),
        fc.record({ type: one('content'), content: few(textBlock) }),
      ),
      title: mark,
      context: mark,
    },
    ['type', 'source'],
  ),
  fc.record({ type: one('search_result'), title: mark, source: url, content: few(textBlock) }),
)
const toolUse = fc.record({ type: one('tool_use'), id: mark, name: mark, input: fc.record({ at: mark, n: count }) })
const thinking = fc.record({ type: one('thinking'), thinking: mark, signature: mark })
const messagesRequest = some(
  {
    max_tokens: count,
    system: fc.oneof(mark, few(textBlock)),
    messages: few(
      fc.oneof(
        fc.record({ role: one('user'), content: fc.oneof(mark, few(userBlock)) }),
        fc.record({ role: one('assistant'), content: fc.oneof(mark, few(fc.oneof(textBlock, toolUse, thinking))) }),
        fc.record({
          role: one('user'),
          content: few(
            some(
              {
                type: one('tool_result'),
                tool_use_id: mark,
                content: fc.oneof(mark, few(userBlock)),
                is_error: fc.boolean(),
              },
              ['type', 'tool_use_id'],
            ),
          ),
        }),
      ),
    ),
    ...sampling,
    stop_sequences: few(mark),
    metadata: fc.record({ user_id: mark }),
    thinking: fc.record({ type: one('enabled'), budget_tokens: count }),
    service_tier: mark,
    output_config: fc.record({ format: fc.record({ type: one('json_schema'), schema }) }),
    tools: few(some({ name: mark, description: mark, input_schema: schema }, ['name', 'input_schema'])),
  },
  ['max_tokens', 'messages'],
).chain((asked) =>
  asked.tools
    ? some({ type: one('tool'), name: mark, disable_parallel_tool_use: fc.boolean() }, ['type', 'name']).map(
        (tool_choice) => ({
          ...asked,
          tool_choice,
        }),
      )
    : one(asked),
)

const inputPart = fc.oneof(
  fc.record({ type: one('input_text'), text: mark }),
  some({ type: one('input_image'), image_url: url, detail: one('low') }, ['type', 'image_url']),
  fc.oneof(
    fc.record({ type: one('input_file'), file_data: dataUrl, filename: mark }),
    fc.record({ type: one('input_file'), file_id: mark }),
  ),
  fc.record({ type: one('input_audio'), input_audio: fc.record({ data: mark, format: one('wav') }) }),
)
const outputPart = fc.oneof(
  some({ type: one('output_text'), text: mark, annotations: fc.array(fc.record({ url })) }, ['type', 'text']),
  fc.record({ type: one('refusal'), refusal: mark }),
)
const responsesTool = fc.oneof(
  some({ type: one('function'), name: mark, description: mark, parameters: schema }, ['type', 'name']),
  some(
    {
      type: one('custom'),
      name: mark,
      description: mark,
      format: fc.record({ type: one('grammar'), syntax: one('lark'), definition: mark }),
    },
    ['type', 'name'],
  ),
  fc.record({ type: one('web_search'), user_location: fc.record({ city: mark }) }),
)
const round = fc.record({ call_id: mark, name: mark, input: mark, output: fc.oneof(mark, few(inputPart)) })
const responsesItem = fc.oneof(
  some({ type: one('message'), role: one('user'), content: fc.oneof(mark, few(inputPart)) }, ['role', 'content']),
  fc.record({
    role: fc.constantFrom('system', 'developer'),
    content: fc.oneof(mark, few(fc.record({ type: one('input_text'), text: mark }))),
  }),
  some({ type: one('message'), id: mark, role: one('assistant'), content: few(outputPart) }, ['role', 'content']),
  fc.record({ type: one('function_call'), call_id: mark, name: mark, arguments: args }),
  fc.record({ type: one('function_call_output'), call_id: mark, output: fc.oneof(mark, few(inputPart)) }),
  fc.record({
    type: one('reasoning'),
    id: mark,
    summary: few(fc.record({ type: one('summary_text'), text: mark })),
  }),
)
const responsesRequest = some(
  {
    instructions: mark,
    input: fc.oneof(
      mark,
      few(responsesItem).chain((items) =>
        // The call of a custom tool counts only with its result.
        fc.option(round).map((custom) => [
          ...items,
          ...(custom
            ? [
                { type: 'custom_tool_call', call_id: custom.call_id, name: custom.name, input: custom.input },
                { type: 'custom_tool_call_output', call_id: custom.call_id, output: custom.output },
              ]
            : []),
        ]),
      ),
    ),
    ...sampling,
    max_output_tokens: count,
    user: mark,
    safety_identifier: mark,
    prompt_cache_key: mark,
    service_tier: mark,
    metadata: fc.record({ of: mark }),
    max_tool_calls: count,
    reasoning: some({ effort: mark, summary: mark }),
    text: some({
      verbosity: mark,
      format: some({ type: one('json_schema'), name: mark, description: mark, schema }, ['type', 'name', 'schema']),
    }),
    top_logprobs: count,
    tools: few(responsesTool),
  },
  ['input'],
)

/** A request with at most one of its rare fields. */
const withRare = ({ given, rare }: Conversion): fc.Arbitrary<object> =>
  given.chain((request) =>
    fc
      .option(
        fc.oneof(one({}), ...Object.entries(rare ?? {}).map(([name, value]) => value.map((one) => ({ [name]: one })))),
      )
      .map((field) => ({ ...request, ...field })),
  )
const located = fc.record({ type: one('approximate'), city: mark })
const rareOfChat = {
  n: count,
  presence_penalty: share,
  frequency_penalty: share,
  logit_bias: fc.record({ of: count }),
  max_completion_tokens: count,
  safety_identifier: mark,
  verbosity: mark,
  top_logprobs: count,
  top_k: count,
  prediction: fc.record({ type: one('content'), content: mark }),
  web_search_options: fc.record({ user_location: fc.record({ type: one('approximate'), approximate: located }) }),
  audio: fc.record({ voice: mark, format: one('wav') }),
  prompt_cache_retention: mark,
  invented: fc.record({ of: mark }),
}
const rareOfMessages = {
  top_k: count,
  mcp_servers: few(fc.record({ type: one('url'), url, name: mark })),
  container: mark,
  inference_geo: mark,
  speed: mark,
  context_management: fc.record({ edits: few(fc.record({ type: mark })) }),
  invented: fc.record({ of: mark }),
}
const rareOfResponses = {
  prompt: fc.record({ id: mark, variables: fc.record({ of: mark }) }),
  truncation: mark,
  prompt_cache_retention: mark,
  presence_penalty: share,
  context_management: few(fc.record({ type: one('compaction'), compact_threshold: count })),
  invented: fc.record({ of: mark }),
}

const requests: Conversion[] = [
  {
    name: 'chat completions to Messages',
    given: chatRequest,
    rare: rareOfChat,
    convert: (given, note) => toMessagesFromChat(given as never, note),
    dropped: [
      [/^messages\.\d+\.name$/, 'Messages has no names of participants'],
      [/^messages\.\d+\.reasoning_content$/, 'no other provider can read the thoughts of an earlier answer'],
      [/^messages\.\d+\.content\.\d+\.image_url\.detail$/, 'Messages has no detail of images'],
      [/^response_format\.json_schema\.(?:name|description)$/, 'Messages takes the schema alone'],
    ],
  },
  {
    name: 'Messages to chat completions',
    given: messagesRequest,
    rare: rareOfMessages,
    convert: (given, note) => toChatFromMessages(given as never, note),
    dropped: [
      [/\.citations\b/, 'citations of an earlier answer repeat its sources'],
      [/\.source\.media_type$/, 'a text document has no type in chat completions'],
    ],
  },
  {
    name: 'Responses to chat completions',
    given: responsesRequest,
    rare: rareOfResponses,
    convert: (given, note) => toChatRequest(given as never, null, note),
    dropped: [
      [/^input\.\d+\.(?:id|summary)\b/, 'ids of stored items, and thoughts that only their provider reads'],
      [/\.annotations\b/, 'citations of an earlier answer repeat its sources'],
      [/^reasoning\.summary$/, 'chat completions gives thoughts as they are'],
      [/\.detail$/, 'of an image that is a placeholder'],
    ],
  },
]

/** Bytes: of their two alphabets, Google's API takes both, and chat completions the one without hyphens. */
const bytes = mark.map((of) => of.replaceAll('-', ''))
const googleSchema = mark.map((title) => ({ type: 'OBJECT', title, properties: { at: { type: 'STRING' } } }))
const googleText = fc.record({ text: mark })
const googleMedia = fc.oneof(
  fc.record({ inlineData: some({ mimeType: one('image/png'), data: bytes, displayName: mark }, ['mimeType', 'data']) }),
  fc.record({ inlineData: fc.record({ mimeType: one('audio/wav'), data: bytes }) }),
  fc.record({
    inlineData: some({ mimeType: one('application/pdf'), data: bytes, displayName: mark }, ['mimeType', 'data']),
  }),
  fc.record({ fileData: fc.record({ mimeType: one('image/png'), fileUri: url }) }),
)
const googleTurn = fc.oneof(
  fc.record({ role: one('user'), parts: few(fc.oneof(googleText, googleMedia)) }),
  fc.record({
    role: one('model'),
    parts: few(
      fc.oneof(
        some({ text: mark, thoughtSignature: mark }, ['text']),
        fc.record({ text: mark, thought: one(true) }),
        fc.record({
          functionCall: some({ id: mark, name: mark, args: fc.record({ at: mark, n: count }) }, ['id', 'name']),
        }),
      ),
    ),
  }),
  fc.record({
    role: one('user'),
    parts: few(
      fc.record({
        functionResponse: some(
          {
            id: mark,
            name: mark,
            response: fc.oneof(
              fc.record({ output: mark }),
              fc.record({ error: mark }),
              fc.record({ at: mark, n: count }),
            ),
            parts: few(googleMedia),
          },
          ['name', 'response'],
        ),
      }),
    ),
  }),
)
const googleConfig = some({
  temperature: share,
  topP: share,
  topK: count,
  maxOutputTokens: count,
  candidateCount: count,
  stopSequences: few(mark),
  seed: count,
  presencePenalty: share,
  frequencyPenalty: share,
  thinkingConfig: fc.record({ thinkingBudget: count }),
}).chain((config) =>
  fc.oneof(
    one(config),
    fc.oneof(fc.record({ responseSchema: googleSchema }), fc.record({ responseJsonSchema: schema })).map((format) => ({
      ...config,
      responseMimeType: 'application/json',
      ...format,
    })),
  ),
)
const googleRequest = some(
  {
    contents: few(googleTurn),
    systemInstruction: fc.oneof(mark, fc.record({ parts: few(googleText) })),
    generationConfig: googleConfig,
    tools: few(
      fc.record({
        functionDeclarations: few(
          fc.oneof(
            some({ name: mark, description: mark, parameters: googleSchema }, ['name']),
            some({ name: mark, parametersJsonSchema: schema, response: googleSchema }, ['name']),
          ),
        ),
      }),
    ),
    toolConfig: fc.record({ functionCallingConfig: fc.record({ mode: one('ANY') }) }),
    safetySettings: few(fc.record({ category: mark, threshold: mark })),
    labels: fc.record({ of: mark }),
  },
  ['contents'],
)

/** A Gemini request as it enters: with the fields of its path, and its limits under the names of Responses. */
function arrived(given: object): object {
  const text = JSON.stringify(given)
  return geminiRequest({ bytes: Buffer.from(text), text, json: given }, { model: 'm', stream: false }).json
}

requests.push({
  name: 'Gemini to chat completions',
  given: googleRequest,
  convert: (given, note) => toChatFromGemini(arrived(given) as never, note),
  dropped: [
    [/\.functionResponse\.name$/, 'chat completions names a result by its call alone'],
    [/\.role$|\.mimeType$|\.mode$/, 'said in words of the other API'],
  ],
})

/** Converts a request as its passage does, on its way to an upstream of another API. */
const through =
  (passage: Passage): Conversion['convert'] =>
  (given, note) =>
    passage.convert(given, {
      ...{ refused: null, note, mostDropped: 0, takesFileUrls: false, takesCacheMarks: false, isAnthropic: false },
      ...{ cachedSession: NO_SESSION, longestAnswer: 1000, model: 'm' },
      reasoning: { open: () => null, openSummary: () => null, kept: () => null, mayBring: () => false },
    })

const conversation = some({ instructions: mark, input: few(responsesItem), tools: few(responsesTool) }, ['input'])
const [, , responsesToChat, geminiToChat] = requests as [Conversion, Conversion, Conversion, Conversion]
requests.push(
  {
    name: 'Responses to Messages, through chat completions',
    given: responsesRequest,
    convert: through(chatOverMessages(responseOverChat)),
    dropped: [...responsesToChat.dropped, [/^text\.format\.(?:name|description)$/, 'Messages takes the schema alone']],
  },
  {
    name: 'Gemini to Messages, through chat completions',
    given: googleRequest,
    convert: (given, note) => through(chatOverMessages(geminiOverChat))(arrived(given), note),
    dropped: geminiToChat.dropped,
  },
  {
    name: 'a conversation of Responses to the request for its summary',
    given: conversation.map((asked) => ({ ...asked, input: [...asked.input, { type: 'compaction_trigger' }] })),
    convert: through(responseOverChat),
    dropped: responsesToChat.dropped.filter(([pattern]) => !pattern.test('reasoning.summary')),
  },
)

const chatMessage = some(
  {
    role: one('assistant'),
    content: mark,
    refusal: mark,
    reasoning_content: mark,
    annotations: few(
      fc.record({
        type: one('url_citation'),
        url_citation: fc.record({ url, title: mark, start_index: count, end_index: count }),
      }),
    ),
    tool_calls: few(chatCall),
  },
  ['role', 'content'],
)
const completion = some(
  {
    id: mark,
    model: mark,
    created: count,
    service_tier: mark,
    choices: fc
      .record({
        index: one(0),
        message: chatMessage,
        finish_reason: one('stop'),
        logprobs: fc.record({ content: few(fc.record({ token: mark, logprob: count, bytes: few(count) })) }),
      })
      .map((choice) => [choice]),
  },
  ['id', 'model', 'created', 'choices'],
)
const messageBlock = fc.oneof(textBlock, toolUse, thinking)
const message = fc.record({
  id: mark,
  type: one('message'),
  role: one('assistant'),
  model: mark,
  content: few(messageBlock),
  stop_reason: one('end_turn'),
  stop_sequence: one(null),
  usage: fc.record({ input_tokens: count, output_tokens: count }),
})
const asked = { max_tokens: 1, messages: [], input: 'x' } as never
const ABOUT_STORAGE = [/^(?:id|created|service_tier)$/, 'the answer gets an id and time of its own API'] as const
const NO_SOURCES = [/\.(?:annotations|citations)\b/, 'citations of the two APIs point into different texts'] as const
const NO_LOGPROBS = [/\.logprobs\b/, 'Messages has no log probabilities, and refuses requests for them'] as const
const ONE_CHOICE = [/^choices\.\d+\.index$/, 'the other APIs have one answer, without a number'] as const
const AUTHOR = [
  /(?:^|\.message\.)role$|^type$/,
  'an answer comes from the assistant, and has one type in each API',
] as const
const NO_SEQUENCE = [/^stop_sequence$/, 'chat completions does not name the sequence that ended an answer'] as const
const SUMMED = [/^usage\b/, 'the two APIs add up counts in different ways; their sums have tests of their own'] as const

const answers: Conversion[] = [
  {
    name: 'a chat completion to a Message',
    given: completion,
    convert: (given) => toMessage(given as never, asked) ?? refuse(),
    dropped: [ABOUT_STORAGE, NO_SOURCES, NO_LOGPROBS, ONE_CHOICE, AUTHOR],
  },
  {
    name: 'a chat stream to a streamed Message',
    given: completion,
    convert(given) {
      const events = createMessageEvents(asked, { model: 'm' })
      const chunks = completionChunks(given as never, { withUsage: true })
      return [...chunks.flatMap((chunk) => events.push(chunk)), ...events.finish()]
    },
    dropped: [ABOUT_STORAGE, NO_SOURCES, NO_LOGPROBS, ONE_CHOICE, AUTHOR],
  },
  {
    name: 'a chat completion to a Response',
    given: completion,
    convert: (given) => toResponse(given as never, asked),
    dropped: [[/^id$/, 'the answer gets an id of its own API'], ONE_CHOICE, AUTHOR],
  },
  {
    name: 'a chat stream to a streamed Response',
    given: completion,
    convert: (given) => completionEvents(given as never, asked),
    dropped: [ABOUT_STORAGE, ONE_CHOICE, AUTHOR],
  },
  {
    name: 'a Message to a chat completion',
    given: message,
    convert: (given) => toCompletion(given as never),
    dropped: [NO_SOURCES, SUMMED, AUTHOR, NO_SEQUENCE],
  },
  {
    name: 'a streamed Message to a chat stream',
    given: message,
    convert(given) {
      const chunks = createCompletionChunks()
      return messageEvents(given as never).flatMap((event) => chunks.push(event))
    },
    dropped: [NO_SOURCES, SUMMED, AUTHOR, NO_SEQUENCE],
  },
  {
    name: 'a streamed Message to a whole one',
    given: message,
    convert(given) {
      const joined = joinMessage()
      for (const event of messageEvents(given as never)) joined.push(event)
      return joined.message()
    },
    dropped: [SUMMED],
  },
]

const chunksOf = (given: object) => {
  const chunks = createCompletionChunks()
  return messageEvents(given as never).flatMap((event) => chunks.push(event)) as unknown as ChatChunk[]
}
answers.push(
  {
    name: 'a Message to a Response, through chat completions',
    given: message,
    convert: (given) => toResponse(toCompletion(given as never), asked, { seal: JSON.stringify }),
    dropped: [ABOUT_STORAGE, NO_SOURCES, SUMMED, AUTHOR, NO_SEQUENCE],
  },
  {
    name: 'a streamed Message to a streamed Response, through chat completions',
    given: message,
    convert(given) {
      const events = createResponseEvents(asked, { model: 'm', seal: JSON.stringify })
      return [...events.start(), ...chunksOf(given).flatMap((chunk) => events.push(chunk)), ...events.finish()]
    },
    dropped: [ABOUT_STORAGE, NO_SOURCES, SUMMED, AUTHOR, NO_SEQUENCE],
  },
)

const GOOGLE_ANSWER = [
  [/^(?:created|service_tier)$/, 'a Gemini reply has no time and no tier'],
  [/\.logprobs\b/, 'asked for in fields of its own, which are reported as dropped'],
  ONE_CHOICE,
  AUTHOR,
] as const
const shown = { generationConfig: { thinkingConfig: { includeThoughts: true } } }
answers.push(
  {
    name: 'a chat completion to a Gemini reply',
    given: completion,
    convert(given) {
      const reply = toGeminiReply(given as never, shown, { model: 'm' })
      return typeof reply === 'string' ? refuse() : JSON.parse(withWritten(reply))
    },
    dropped: GOOGLE_ANSWER,
  },
  {
    name: 'a chat stream to a streamed Gemini reply',
    given: completion,
    convert(given) {
      const stream = createGeminiStream(shown, { model: 'm' })
      const chunks = completionChunks(given as never, { withUsage: true })
      return JSON.parse(withWritten([...chunks.flatMap((chunk) => stream.push(chunk)), stream.finish(stream.fault())]))
    },
    dropped: GOOGLE_ANSWER,
  },
  {
    name: 'a streamed Message to a streamed Gemini reply, through chat completions',
    given: message,
    convert(given) {
      const stream = createGeminiStream(shown, { model: 'm' })
      const pieces = chunksOf(given).flatMap((chunk) => stream.push(chunk))
      return stream.fault() === null ? JSON.parse(withWritten([...pieces, stream.finish(null)])) : refuse()
    },
    dropped: [AUTHOR, NO_SOURCES, SUMMED, NO_SEQUENCE, [/\.signature$/, 'sealed for the client to bring back']],
  },
)

function refuse(): never {
  throw new WrongTypeError('choices.0.message.tool_calls', 'JSON')
}

/** Paths of all values in a JSON value, dotted. */
function* pathsIn(value: unknown, path: readonly string[] = []): Generator<[path: readonly string[], value: unknown]> {
  if (path.length > 0) yield [path, value]
  if (typeof value === 'object' && value !== null)
    for (const [name, inner] of Object.entries(value)) yield* pathsIn(inner, [...path, name])
}

/** A mark, also without its hyphens. */
const MARK = /[\da-f]{8}-[\da-f-]{27}|[\da-f]{32}/

const isMarked = (value: unknown): value is string | number =>
  typeof value === 'number' ? value !== 0 : typeof value === 'string' && MARK.test(value)

/** The part of a marked value that a conversion may not change. */
const core = (value: string | number): string => String(value).match(MARK)?.[0] ?? String(value)

const textIn = (converted: unknown): string => JSON.stringify(converted)

/** A copy of `given` with another value at `path`; undefined removes it. */
function changed(given: object, path: readonly string[], value: unknown): object {
  const copy = structuredClone(given)
  const owner = path.slice(0, -1).reduce((inner, name) => (inner as Record<string, object>)[name] as object, copy)
  const name = path.at(-1) as string
  if (value === undefined && !Array.isArray(owner)) delete (owner as Record<string, unknown>)[name]
  else (owner as Record<string, unknown>)[name] = value
  return copy
}

/** Path of the field that a refusal names, otherwise what was converted, as JSON, and what was noted as dropped. */
function refusedBy(
  work: (note: (path: string) => void) => unknown,
): { path: string } | { converted: string; noted: string[] } {
  const noted: string[] = []
  try {
    return { converted: textIn(work((path) => void noted.push(path))), noted }
  } catch (error) {
    if (error instanceof GazewayError) {
      assert.equal(error.status, 400)
      assert.ok(error.message.startsWith(`${error.param}: `), error.message)
      return { path: error.param as string }
    }
    assert.ok(error instanceof WrongTypeError, String(error))
    return { path: error.message.split(': ')[0] as string }
  }
}

/** Tells whether a client is told that a value, or what holds it or stands in it, was dropped. */
const isReported = (noted: readonly string[], at: string) => noted.some((path) => isWithin(path, at))
const isDropped = ({ dropped }: Conversion, path: string) => dropped.some(([pattern]) => pattern.test(path))
const isWithin = (one: string, other: string) => `${one}.`.startsWith(`${other}.`) || `${other}.`.startsWith(`${one}.`)

describe('every marked value of a valid request or answer', () => {
  const all = [...requests, ...answers]
  for (const conversion of all) {
    const { name, convert, dropped } = conversion
    it(`arrives or is refused by name: ${name}`, () => {
      const seen = new Set<RegExp>()
      fc.assert(
        fc.property(withRare(conversion), (sent) => {
          const result = refusedBy((note) => convert(structuredClone(sent), note))
          if ('path' in result) {
            const paths = [...pathsIn(sent)].map(([path]) => path.join('.'))
            assert.ok(paths.includes(result.path), `${result.path} is a field of the request`)
            return
          }
          for (const [path, value] of pathsIn(sent)) {
            if (!isMarked(value) || result.converted.includes(core(value))) continue
            const at = path.join('.')
            if (isReported(result.noted, at)) continue
            assert.ok(isDropped(conversion, at), `${at} is lost`)
            for (const [pattern] of dropped) if (pattern.test(at)) seen.add(pattern)
          }
        }),
        { numRuns: 300 },
      )
      // What another conversion before it drops too is seen there: this one refuses many requests that have it.
      const before = new Set(all.slice(0, all.indexOf(conversion)).flatMap((one) => one.dropped))
      const stale = dropped.filter(
        (entry) => !seen.has(entry[0]) && !before.has(entry) && !NEVER_MARKED.test(entry[0].source),
      )
      assert.deepEqual(stale, [], 'the list of what is dropped has nothing that arrives')
    })
  }
})

/** Entries of the lists that carry no mark, or arrive when they are valid: they matter for wrong types alone. */
const NEVER_MARKED = /detail|media_type|index|role|stop_sequence|usage/

const WRONG: readonly unknown[] = [
  '0a0a0a0a-wrong-type',
  7_654_321,
  true,
  ['0b0b0b0b-wrong-type'],
  { odd: '0c0c0c0c-wrong-type' },
]
const kindOf = (value: unknown): string => (Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value)
const markIn = (value: unknown): string | undefined =>
  /0[abc]{7}|0a0a0a0a|0b0b0b0b|0c0c0c0c|7654321/.exec(JSON.stringify(value))?.[0]

describe('a value of a wrong type, in any field', () => {
  for (const conversion of [...requests, ...answers]) {
    const { name, given, convert } = conversion
    it(`arrives or is refused with its path: ${name}`, () => {
      fc.assert(
        fc.property(given, (sent) => {
          // A refusal of the request as it is would say nothing of the wrong value.
          fc.pre(!('path' in refusedBy((note) => convert(structuredClone(sent), note))))
          for (const [path, value] of pathsIn(sent))
            for (const wrong of WRONG) {
              const at = path.join('.')
              if (kindOf(wrong) === kindOf(value) || isDropped(conversion, at)) continue
              const result = refusedBy((note) => convert(changed(sent, path, wrong), note))
              const told = `${at}: ${JSON.stringify(wrong)}`
              if ('path' in result) {
                const isOfStream = answers.includes(conversion)
                assert.ok(isOfStream || isWithin(result.path, at), `${told} is refused as ${result.path}`)
                continue
              }
              const left = markIn(wrong)
              if (left === undefined || isReported(result.noted, at)) continue
              assert.ok(result.converted.includes(left), `${told} is lost`)
            }
        }),
        // A conversion through another one is made of two that are tested by themselves.
        { numRuns: runsOf(conversion.name.includes('through') ? 20 : 60) },
      )
    })
  }
})
