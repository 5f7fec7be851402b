import { createHash } from 'node:crypto'
import { message as anthropicMessage, named } from '../../doubles/anthropic.ts'
import { DIALECTS, refusedByAnthropic } from '../../doubles/dialects.ts'
import * as strict from '../../doubles/strict.ts'
import { type Behaviour, completion, json, type Received, sse } from '../../doubles/upstream.ts'

type Fields = Record<string, unknown>
const list = (value: unknown): Fields[] => (Array.isArray(value) ? value : [])

/** Call that a model makes. */
export interface Call {
  id: string
  name: string
  input: object
}

/** Answer of a model. One that hangs never ends. */
export interface Answer {
  text: string
  calls: Call[]
  hangs: boolean
  promptTokens: number
}

/** Error reply of a provider. */
interface Refusal {
  status: number
  body: unknown
}

/** Double of a provider: what it refuses, and how it says an answer. */
export interface Provider {
  /** As the `upstreams` of a configuration name it. */
  preset: string | null
  path: '/chat/completions' | '/messages'
  /** Its models read images. */
  seesImages: boolean
  /** Reason why it refuses a request; null when it takes it. */
  refuses(request: Received): Refusal | null
  answers(answer: Answer): Behaviour
}

/** The thought before an answer. */
const thoughtOf = ({ calls, text }: Answer) => `I think about ${calls[0]?.id ?? text}.`
const signed = (text: string) => createHash('sha512').update(`secret ${text}`).digest('base64').repeat(3)

/** Reasoning as a provider of chat completions carries it, and demands it back. */
interface Reasoning {
  /** Pieces of a stream; the fields of all of them are those of the whole message. */
  pieces(answer: Answer): Fields[]
  /** Fields of the first call. */
  call?(answer: Answer): Fields
  rules: strict.Rule[]
}

const NO_REASONING: Reasoning = { pieces: () => [], rules: [] }

const assistantsWithCalls = (messages: Fields[]) =>
  messages.filter(({ role, tool_calls }) => role === 'assistant' && list(tool_calls).length > 0)

const inPieces = (text: string) => text.match(/.{1,9}/gs) ?? []

const reasoningContent: Reasoning = {
  pieces: (answer) => inPieces(thoughtOf(answer)).map((reasoning_content) => ({ reasoning_content })),
  rules: [
    ({ messages, ...body }) =>
      list(body.tools).length > 0 &&
      messages.some((message) => message.role === 'assistant' && !('reasoning_content' in message))
        ? { message: 'The `reasoning_content` in the thinking mode must be passed back to the API.' }
        : null,
  ],
}

/** A field that is shown and not wanted back: vLLM and Ollama. */
const shownReasoning: Reasoning = {
  pieces: (answer) => inPieces(thoughtOf(answer)).map((reasoning) => ({ reasoning })),
  rules: [],
}

const details: Reasoning = {
  pieces(answer) {
    const detail = { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0 }
    const words = inPieces(thoughtOf(answer)).map((text) => ({
      reasoning: text,
      reasoning_details: [{ ...detail, text }],
    }))
    return [...words, { reasoning_details: [{ ...detail, signature: signed(thoughtOf(answer)) }] }]
  },
  rules: [
    ({ messages }) =>
      assistantsWithCalls(messages as Fields[]).some(({ reasoning_details: told }) => {
        const [first] = list(told)
        return first?.signature !== signed(String(first?.text))
      })
        ? { message: 'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.' }
        : null,
  ],
}

const signatureOf = (call: Fields | undefined) =>
  ((call?.extra_content as Fields | undefined)?.google as Fields | undefined)?.thought_signature

const signatures: Reasoning = {
  pieces: () => [],
  call: ({ calls }) => ({ extra_content: { google: { thought_signature: signed(String(calls[0]?.id)) } } }),
  rules: [
    ({ messages }) => {
      const turn = messages.slice(messages.findLastIndex(({ role }) => role === 'user')) as Fields[]
      const isLacking = assistantsWithCalls(turn).some(({ tool_calls }) => {
        const [first] = list(tool_calls)
        return ![signed(String(first?.id)), 'skip_thought_signature_validator'].includes(String(signatureOf(first)))
      })
      return isLacking
        ? {
            message:
              'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.',
          }
        : null
    },
  ],
}

/** Ollama, `openai/openai.go`: content is a text or a list of texts and images with their bytes. */
const ollamaContent: strict.Rule = ({ messages }) => {
  for (const { content, tool_calls } of messages) {
    if (typeof content === 'string' || list(tool_calls).length > 0) continue
    if (!Array.isArray(content)) return { message: `invalid message content type: ${typeof content}` }
    for (const { type, image_url: url } of content as Fields[]) {
      if (type !== 'text' && type !== 'image_url') return { message: 'invalid message format' }
      const address = typeof url === 'string' ? url : (url as Fields | undefined)?.url
      if (type === 'image_url' && !/^data:image\/(jpeg|jpg|png|webp);base64,/.test(String(address)))
        return { message: 'invalid image input' }
    }
  }
  return null
}

interface ChatOptions {
  preset?: string
  rules: strict.Rule[]
  reasoning?: Reasoning
  seesImages?: boolean
  /** Shape of its errors; OpenAI's where absent. */
  error?: (message: string, status: number, param: string | null) => unknown
}

const openAiError = (message: string, _status: number, param: string | null) => ({
  error: { message, type: 'invalid_request_error', param, code: null },
})

function chatProvider({
  preset,
  rules,
  reasoning = NO_REASONING,
  seesImages = true,
  error = openAiError,
}: ChatOptions): Provider {
  return {
    preset: preset ?? null,
    path: '/chat/completions',
    seesImages,
    refuses({ body }) {
      for (const rule of [...rules, ...reasoning.rules]) {
        const fault = rule(body as never)
        if (fault === null) continue
        const { message, status = 400, param = null } = fault
        return { status, body: error(message, status, param) }
      }
      return null
    },
    answers: (answer) => sendChat(answer, reasoning),
  }
}

type Chunk = (delta: Fields, finish_reason?: string | null) => Fields

let completions = 0

/** Chunks of one answer. LangGraph joins messages of one id. */
function chunksOfOne(): Chunk {
  const id = `chatcmpl-${++completions}`
  return (delta, finish_reason = null) => ({
    ...{ id, object: 'chat.completion.chunk', created: 1_760_000_000, model: 'steered' },
    choices: [{ index: 0, delta, finish_reason }],
  })
}

function sendChat(answer: Answer, reasoning: Reasoning): Behaviour {
  const { text, calls, hangs, promptTokens } = answer
  const made = calls.map(({ id, name, input }, index) => ({
    ...{ id, type: 'function', function: { name, arguments: JSON.stringify(input) } },
    ...(index === 0 && reasoning.call?.(answer)),
  }))
  const usage = { prompt_tokens: promptTokens, completion_tokens: 20, total_tokens: promptTokens + 20 }
  const finish = made.length > 0 ? 'tool_calls' : 'stop'
  return (response, request) => {
    if ((request.body as Fields).stream !== true) {
      const message = { role: 'assistant', content: text || null, ...(made.length > 0 && { tool_calls: made }) }
      const id = `chatcmpl-${++completions}`
      return json(200, { ...completion(''), id, choices: [{ index: 0, message, finish_reason: finish }], usage })(
        response,
        request,
      )
    }
    const chunk = chunksOfOne()
    const pieces = [
      chunk({ role: 'assistant', content: '' }),
      ...reasoning.pieces(answer).map((piece) => chunk(piece)),
      ...inPieces(text).map((content) => chunk({ content })),
    ]
    if (hangs) return sse(pieces, 'hang')(response, request)
    return sse([
      ...pieces,
      ...made.flatMap((call, index) => callChunks(chunk, call, index)),
      chunk({}, finish),
      { ...chunk({}), choices: [], usage },
    ])(response, request)
  }
}

function callChunks(
  chunk: Chunk,
  { function: called, ...call }: { id: string; function: { name: string; arguments: string } },
  index: number,
) {
  return [
    chunk({ tool_calls: [{ ...call, index, function: { name: called.name, arguments: '' } }] }),
    ...inPieces(called.arguments).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ]
}

/** Reason why Claude refuses the thinking in a conversation. */
function refusedThinking({ messages, thinking }: Fields): string | null {
  for (const [at, { role, content }] of list(messages).entries()) {
    const blocks = list(content)
    const foreign = blocks.findIndex(
      ({ type, signature, thinking: text }) => type === 'thinking' && signature !== signed(String(text)),
    )
    if (foreign >= 0) return `messages.${at}.content.${foreign}: Invalid \`signature\` in \`thinking\` block`
    const isOpen = at === list(messages).length - 2 && blocks.some(({ type }) => type === 'tool_use')
    if (
      role === 'assistant' &&
      isOpen &&
      (thinking as Fields | undefined)?.type === 'enabled' &&
      blocks[0]?.type !== 'thinking'
    )
      return `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${blocks[0]?.type}\`.`
  }
  return null
}

let messages = 0

const claude: Provider = {
  preset: 'anthropic',
  path: '/messages',
  seesImages: true,
  refuses({ body, headers }) {
    const fault = refusedByAnthropic(body as Fields, headers) ?? refusedThinking(body as Fields)
    return fault === null
      ? null
      : { status: 400, body: { type: 'error', error: { type: 'invalid_request_error', message: fault } } }
  },
  answers: (answer) => (response, request) => {
    const { thinking, stream } = request.body as { thinking?: { type: string }; stream?: boolean }
    const isThinking = thinking?.type === 'enabled' || thinking?.type === 'adaptive'
    const thought = thoughtOf(answer)
    const content: Fields[] = [
      ...(isThinking ? [{ type: 'thinking', thinking: thought, signature: signed(thought) }] : []),
      ...(answer.text ? [{ type: 'text', text: answer.text }] : []),
      ...answer.calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
    ]
    const stop_reason = answer.calls.length > 0 ? 'tool_use' : 'end_turn'
    // Claude Code joins messages of one id.
    const id = `msg_${++messages}`
    const usage = { input_tokens: answer.promptTokens, output_tokens: 20 }
    if (stream !== true)
      return json(200, anthropicMessage(content, { id, stop_reason }, usage as never))(response, request)
    const begun = [
      { type: 'message_start', message: anthropicMessage([], { id, stop_reason: null }, usage as never) },
      ...content.flatMap((block, index) => blockEvents(block, index)),
    ]
    if (answer.hangs) return sse(begun.slice(0, -1), 'hang')(response, request)
    return named([
      ...begun,
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 20 } },
      { type: 'message_stop' },
    ])(response, request)
  },
}

function blockEvents(block: Fields, index: number): object[] {
  const empty: Record<string, Fields> = {
    thinking: { thinking: '', signature: '' },
    text: { text: '' },
    tool_use: { input: {} },
  }
  const deltas: Record<string, () => Fields[]> = {
    thinking: () => [
      { type: 'thinking_delta', thinking: block.thinking },
      { type: 'signature_delta', signature: block.signature },
    ],
    text: () => inPieces(String(block.text)).map((text) => ({ type: 'text_delta', text })),
    tool_use: () =>
      inPieces(JSON.stringify(block.input)).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
  }
  return [
    { type: 'content_block_start', index, content_block: { ...block, ...empty[String(block.type)] } },
    ...(deltas[String(block.type)]?.() ?? []).map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

/** The providers that agents work over, by the name that the table of results has. */
export const PROVIDERS = {
  Anthropic: claude,
  OpenAI: chatProvider({ rules: DIALECTS['OpenAI, reasoning'] }),
  DeepSeek: chatProvider({
    preset: 'deepseek',
    rules: DIALECTS.DeepSeek,
    reasoning: reasoningContent,
    seesImages: false,
  }),
  'Qwen template': chatProvider({ preset: 'vllm', rules: DIALECTS['Qwen template'], reasoning: shownReasoning }),
  Ollama: chatProvider({
    preset: 'ollama',
    rules: [ollamaContent, strict.parsedArguments, strict.noThinking],
  }),
  'Gemini 3': chatProvider({
    preset: 'gemini',
    rules: DIALECTS.Gemini,
    reasoning: signatures,
    error: (message, code) => [{ error: { code, message, status: 'INVALID_ARGUMENT' } }],
  }),
  OpenRouter: chatProvider({
    preset: 'openrouter',
    rules: [strict.pairedTools],
    reasoning: details,
    error: (raw) => ({ error: { message: 'Provider returned error', code: 400, metadata: { raw } } }),
  }),
} satisfies Record<string, Provider>

export type ProviderName = keyof typeof PROVIDERS
