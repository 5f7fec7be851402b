import { createHash } from 'node:crypto'
import { message as anthropicMessage, named } from './anthropic.ts'
import { type Behaviour, completion, json, type Received, sse } from './upstream.ts'

/** A provider whose models think, and that refuses a conversation without its own reasoning, as the real one does. */
export interface ThinkingProvider {
  path: '/chat/completions' | '/messages'
  protocol: 'openai' | 'anthropic'
  behaviour: Behaviour
  /** Matches a request that brings the reasoning of its calls back. */
  state: RegExp
}

type Fields = Record<string, unknown>

export const THOUGHT = 'The parcel is asked about, so I look.'
export const DELIVERED = 'It was delivered on Friday.'
/** The call that it makes, with its arguments as JSON. */
interface Call {
  name: string
  arguments: string
}

const CALL: Call = { name: 'parcel_status', arguments: '{"parcel":"P-42"}' }

/** A signature that only this provider makes: over the text that it signs. */
const signed = (provider: string, text: string) =>
  createHash('sha512').update(`${provider} ${text}`).digest('base64').repeat(3)

const list = (value: unknown): Fields[] => (Array.isArray(value) ? value : [])

let calls = 0

/** An answer of a chat provider: a call with tools on offer, until the last message has the result. */
function chatAnswer(
  request: Received,
  called: Call,
  thought: { message?: Fields; call?: Fields },
): { message: Fields; finish_reason: string } {
  const { messages, tools } = request.body as { messages: Fields[]; tools?: unknown[] }
  const isDone = messages.at(-1)?.role === 'tool' || !tools?.length
  if (isDone) return { message: { role: 'assistant', content: DELIVERED, ...thought.message }, finish_reason: 'stop' }
  calls++
  const call = { id: `call_${calls}`, type: 'function', function: called, ...thought.call }
  return {
    message: { role: 'assistant', content: null, ...thought.message, tool_calls: [call] },
    finish_reason: 'tool_calls',
  }
}

const chunk = (delta: Fields, finish_reason: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_760_000_000,
  model: 'double-thinker',
  choices: [{ index: 0, delta, finish_reason }],
})

/** Sends an answer whole, or as the given pieces of its reasoning and the rest. */
function sends(answer: { message: Fields; finish_reason: string }, pieces: Fields[]): Behaviour {
  return (response, request) => {
    const { message, finish_reason } = answer
    const whole = completion('')
    const stream = (request.body as { stream?: boolean }).stream === true
    if (!stream) return json(200, { ...whole, choices: [{ index: 0, message, finish_reason }] })(response, request)
    const made = list(message.tool_calls).map((call, index) => ({ ...call, index }))
    return sse([
      chunk({ role: 'assistant', content: '' }),
      ...pieces.map((piece) => chunk(piece)),
      chunk(made.length > 0 ? { tool_calls: made } : { content: message.content }),
      chunk({}, finish_reason),
      { ...chunk({}), choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } },
    ])(response, request)
  }
}

const assistants = (request: Received) =>
  list((request.body as Fields).messages).filter(({ role }) => role === 'assistant')

/**
 * DeepSeek in thinking mode wants `reasoning_content` with every answer of a conversation that has tools
 * (https://api-docs.deepseek.com/guides/thinking_mode; https://github.com/anomalyco/opencode/issues/24722).
 */
export const deepSeekLike = (called = CALL): ThinkingProvider => ({
  path: '/chat/completions',
  protocol: 'openai',
  state: new RegExp(`"reasoning_content":"${THOUGHT}"`),
  behaviour(response, request) {
    const { tools } = request.body as { tools?: unknown }
    const lacks = list(tools).length > 0 && assistants(request).some((one) => !('reasoning_content' in one))
    const wrong = assistants(request).some(
      ({ reasoning_content }) => ![undefined, '', THOUGHT].includes(reasoning_content as string),
    )
    if (lacks || wrong)
      return json(400, {
        error: {
          message: 'The `reasoning_content` in the thinking mode must be passed back to the API.',
          type: 'invalid_request_error',
          param: null,
          code: 'invalid_request_error',
        },
      })(response, request)
    const pieces = THOUGHT.match(/.{1,9}/g)?.map((reasoning_content) => ({ reasoning_content })) ?? []
    return sends(chatAnswer(request, called, { message: { reasoning_content: THOUGHT } }), pieces)(response, request)
  },
})

/**
 * OpenRouter in front of Claude: the signature comes in `reasoning_details`, which must come back unchanged
 * (https://openrouter.ai/docs/use-cases/reasoning-tokens).
 */
export const openRouterLike = (called = CALL): ThinkingProvider => ({
  path: '/chat/completions',
  protocol: 'openai',
  state: /"reasoning_details":\[\{[^\]]*"signature":/,
  behaviour(response, request) {
    const detail = { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0 }
    const signature = signed('openrouter', THOUGHT)
    const whole = [{ ...detail, text: THOUGHT, signature }]
    const lacks = assistants(request).some((one) => {
      const [first] = list(one.reasoning_details)
      return (
        list(one.tool_calls).length > 0 &&
        (first?.text !== THOUGHT || first.signature !== signature || first.format !== detail.format)
      )
    })
    if (lacks)
      return json(400, {
        error: {
          message: 'Provider returned error',
          code: 400,
          metadata: {
            raw: 'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.',
          },
        },
      })(response, request)
    const words = THOUGHT.match(/.{1,9}/g) ?? []
    const pieces = words.map((text) => ({ reasoning: text, reasoning_details: [{ ...detail, text }] }))
    const last = { reasoning_details: [{ ...detail, signature }] }
    const message = { reasoning: THOUGHT, reasoning_details: whole }
    return sends(chatAnswer(request, called, { message }), [...pieces, last])(response, request)
  },
})

/**
 * Gemini 3 wants the thought signature of the first call of each step of the current turn
 * (https://ai.google.dev/gemini-api/docs/thought-signatures). Errors come as a list.
 *
 * @param options.isLate true to stream the signature of a call after it, and after a text
 */
export const geminiLike = ({ isLate = false } = {}, called = CALL): ThinkingProvider => ({
  path: '/chat/completions',
  protocol: 'openai',
  state: /"thought_signature":"(?!skip_)/,
  behaviour(response, request) {
    const messages = list((request.body as Fields).messages)
    const turn = messages.slice(messages.findLastIndex(({ role }) => role === 'user'))
    const signature = signed('gemini', called.arguments)
    const firstOf = ({ tool_calls }: Fields): unknown => {
      const [first] = list(tool_calls)
      if (first === undefined) return signature
      return ((first.extra_content ?? {}) as { google?: Fields }).google?.thought_signature
    }
    const known = [signature, 'skip_thought_signature_validator', undefined]
    if (turn.some((one) => !known.includes(firstOf(one) as string)))
      return json(400, [{ error: { code: 400, message: 'Corrupted thought signature.', status: 'INVALID_ARGUMENT' } }])(
        response,
        request,
      )
    const lacking = turn.findIndex((one) => firstOf(one) === undefined)
    if (lacking >= 0)
      return json(400, [
        {
          error: {
            code: 400,
            message: `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${called.name}\` , position ${lacking}.`,
            status: 'INVALID_ARGUMENT',
          },
        },
      ])(response, request)
    const call = { extra_content: { google: { thought_signature: signature } } }
    const answer = chatAnswer(request, called, { call })
    const [made] = list(answer.message.tool_calls)
    if (!isLate || made === undefined) return sends(answer, [])(response, request)
    const { extra_content, ...bare } = made
    return sse([
      chunk({ role: 'assistant', tool_calls: [{ ...bare, index: 0 }] }),
      chunk({ content: 'I look.' }),
      chunk({ tool_calls: [{ index: 0, extra_content }] }),
      chunk({}, answer.finish_reason),
    ])(response, request)
  },
})

/**
 * Claude with a thinking budget: refuses signatures that it did not make, and a turn with tool calls that does not begin
 * with thinking (https://docs.claude.com/en/docs/build-with-claude/extended-thinking).
 */
export const claudeLike = (called = CALL): ThinkingProvider => ({
  path: '/messages',
  protocol: 'anthropic',
  state: /"type":"thinking","thinking":"The[^}]*"signature":/,
  behaviour(response, request) {
    const { messages, thinking, tools, stream } = request.body as {
      messages: Fields[]
      thinking?: { type: string }
      tools?: unknown[]
      stream?: boolean
    }
    const refuse = (text: string) =>
      json(400, { type: 'error', error: { type: 'invalid_request_error', message: text }, request_id: 'req_1' })(
        response,
        request,
      )
    const isThinking = thinking?.type === 'enabled' || thinking?.type === 'adaptive'
    const thought = { type: 'thinking', thinking: THOUGHT, signature: signed('claude', THOUGHT) }
    const redacted = { type: 'redacted_thinking', data: signed('claude', 'redacted') }
    for (const [at, { role, content }] of messages.entries()) {
      for (const [index, block] of list(content).entries()) {
        const isForeign =
          (block.type === 'thinking' && (block.signature !== thought.signature || block.thinking !== THOUGHT)) ||
          (block.type === 'redacted_thinking' && block.data !== redacted.data)
        if (isForeign) return refuse(`messages.${at}.content.${index}: Invalid \`signature\` in \`thinking\` block`)
      }
      const [first] = list(content)
      const isLast =
        list(messages[at + 1]?.content).some(({ type }) => type === 'tool_result') && at + 2 === messages.length
      const begins = String(first?.type)
      if (thinking?.type === 'enabled' && role === 'assistant' && isLast && !begins.endsWith('thinking'))
        return refuse(
          `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${begins}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). To avoid this requirement, disable \`thinking\`.`,
        )
    }
    const isDone = list(messages.at(-1)?.content).some(({ type }) => type === 'tool_result') || !tools?.length
    calls++
    const said = isDone
      ? { type: 'text', text: DELIVERED }
      : { type: 'tool_use', id: `toolu_${calls}`, name: called.name, input: JSON.parse(called.arguments) }
    const content: Fields[] = [...(isThinking ? [thought, redacted] : []), said]
    const stop_reason = isDone ? 'end_turn' : 'tool_use'
    if (!stream) return json(200, anthropicMessage(content, { stop_reason }))(response, request)
    return named([
      { type: 'message_start', message: anthropicMessage([], { stop_reason: null }) },
      ...content.flatMap((block, index) => blockEvents(block, index)),
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    ])(response, request)
  },
})

function blockEvents(block: Fields, index: number): object[] {
  const empty: Record<string, Fields> = {
    thinking: { thinking: '', signature: '' },
    text: { text: '' },
    tool_use: { input: {} },
  }
  const deltas: Record<string, Fields[]> = {
    thinking: [
      { type: 'thinking_delta', thinking: block.thinking },
      { type: 'signature_delta', signature: block.signature },
    ],
    text: [{ type: 'text_delta', text: block.text }],
    tool_use: [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }],
  }
  return [
    { type: 'content_block_start', index, content_block: { ...block, ...empty[String(block.type)] } },
    ...(deltas[String(block.type)] ?? []).map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}
