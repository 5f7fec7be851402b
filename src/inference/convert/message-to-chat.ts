import { isObject } from '../../text/json.ts'
import { present } from '../../text/present.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { finishReason } from '../api/finish-reason.ts'
import type { ChatCompletion, Message } from '../api/requests.ts'
import { read } from './answer-reader.ts'
import { fromCustomCall } from './custom-tools.ts'

/**
 * Converts a Message to the chat completion of the same request. Thinking becomes `reasoning_content`; its blocks stay in
 * `thinking_blocks`, as the provider wants them back.
 *
 * @param custom names of the custom tools of the request, whose calls have plain text
 * @throws WrongTypeError
 */
export function toCompletion(message: Message, custom: ReadonlySet<unknown> = NO_CUSTOM): ChatCompletion {
  const { id, model, content, stop_reason, usage } = message as unknown as Fields
  const blocks = read.objects(content, 'content').map(readBlock)
  const text = blocks.map((block) => block.text).join('')
  const reasoning = blocks.map((block) => block.thinking).join('')
  const thinking_blocks = blocks.flatMap((block) => block.kept ?? [])
  const calls = blocks.flatMap(({ call }) => (call ? [toCall(call, custom)] : []))
  const answer = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: null,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(thinking_blocks.length > 0 && { thinking_blocks }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  return {
    ...headOf(id, model),
    object: 'chat.completion',
    choices: [{ index: 0, message: answer, logprobs: null, finish_reason: finishReason(readStop(stop_reason)) }],
    ...present({ usage: toChatUsage(usage) }),
  } as unknown as ChatCompletion
}

const NO_CUSTOM: ReadonlySet<unknown> = new Set()

function toCall(
  { id, name, input }: { id: string; name: string; input: Fields },
  custom: ReadonlySet<unknown>,
): Fields {
  const args = JSON.stringify(input)
  return custom.has(name)
    ? { id, type: 'custom', custom: { name, input: fromCustomCall(args) } }
    : { id, type: 'function', function: { name, arguments: args } }
}

const readStop = (reason: unknown): string | undefined => read.optionalText(reason, 'stop_reason')

/** A content block: its text, its thinking, or the call of a tool of the client. */
interface ReadBlock {
  text: string
  thinking: string
  /** The block itself, when the provider wants it back. */
  kept: Fields | null
  call: { id: string; name: string; input: Fields } | null
}

const EMPTY: ReadBlock = { text: '', thinking: '', kept: null, call: null }

/** Reads a content block. Searches that the provider ran are complete, and have neither text nor call. */
function readBlock(block: Fields, index: number): ReadBlock {
  const path = `content.${index}`
  const { type, text, thinking, id, name, input } = block
  const kind = read.text(type, `${path}.type`)
  if (kind === 'text') return { ...EMPTY, text: read.optionalText(text, `${path}.text`) ?? '' }
  if (kind === 'thinking')
    return { ...EMPTY, thinking: read.optionalText(thinking, `${path}.thinking`) ?? '', kept: block }
  if (kind === 'redacted_thinking') return { ...EMPTY, kept: block }
  if (kind !== 'tool_use') return EMPTY
  return {
    ...EMPTY,
    call: {
      id: read.text(id, `${path}.id`),
      name: read.text(name, `${path}.name`),
      input: read.fields(input, `${path}.input`),
    },
  }
}

const headOf = (id: unknown, model: unknown) => ({
  id: read.optionalText(id, 'id') || 'chatcmpl',
  created: Math.floor(Date.now() / 1000),
  model: read.optionalText(model, 'model') ?? '',
})

/**
 * Converts a Message's usage to that of chat completions, whose prompt count includes cached tokens. Undefined when it
 * cannot be read: the answer itself is good.
 */
function toChatUsage(reported: unknown): Fields | undefined {
  if (!isObject(reported)) return undefined
  const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens, cache_creation } = reported
  if (typeof input_tokens !== 'number' || typeof output_tokens !== 'number') return undefined
  const { service_tier, speed, inference_geo, server_tool_use, iterations } = reported
  const cached = Number(cache_read_input_tokens ?? 0)
  const written = Number(cache_creation_input_tokens ?? 0)
  const prompt = input_tokens + cached + written
  return {
    prompt_tokens: prompt,
    completion_tokens: output_tokens,
    total_tokens: prompt + output_tokens,
    prompt_tokens_details: {
      cached_tokens: cached,
      cache_write_tokens: written,
      ...(isObject(cache_creation) && present({ cache_write_1h_tokens: cache_creation.ephemeral_1h_input_tokens })),
    },
    // They change the price, and chat completions has no names of its own for them.
    ...present({ service_tier, speed, inference_geo, server_tool_use, iterations }),
  }
}

/** Converts the events of a streamed Message to the chunks of a chat stream. */
export interface CompletionChunks {
  /**
   * Converts one event. Unknown events and `ping` give nothing.
   *
   * @throws WrongTypeError
   */
  push(event: object): Fields[]
  /** True once the Message is complete. */
  isOver(): boolean
}

/**
 * Creates the converter. The usage comes last, in a separate chunk. The input of a custom tool comes whole, since it is
 * wrapped in JSON.
 *
 * @param custom names of the custom tools of the request
 */
export function createCompletionChunks(custom: ReadonlySet<unknown> = NO_CUSTOM): CompletionChunks {
  let head: Fields = headOf(undefined, undefined)
  let begunUsage: Fields = {}
  let usage: Fields = {}
  let calls = -1
  /** Position of each call among the calls, by the index of its block. */
  const callAt = new Map<number | undefined, number>()
  /** Position of the open call while it has no input: one without parameters stays so. */
  let unwritten: { index: number; input: string } | null = null
  /** Call of a custom tool that is open, with its JSON so far. */
  let wrapped: { index: number; json: string } | null = null
  /** Thinking block that is open. */
  let thought: Fields | null = null
  let over = false

  const chunk = (choices: Fields[], more: Fields = {}): Fields => ({
    ...head,
    object: 'chat.completion.chunk',
    choices,
    ...more,
  })
  const adds = (delta: Fields, finish_reason: string | null = null): Fields[] => [
    chunk([{ index: 0, delta, logprobs: null, finish_reason }]),
  ]

  function startBlock(index: number | undefined, given: Fields): Fields[] {
    const { text, thinking, kept, call } = readBlock(given, index ?? callAt.size)
    thought = kept
    if (kept !== null) return thinking === '' ? [] : adds({ reasoning_content: thinking })
    if (call === null) return text === '' ? [] : adds({ content: text })
    callAt.set(index, ++calls)
    if (custom.has(call.name)) {
      wrapped = { index: calls, json: '' }
      return adds({
        tool_calls: [{ index: calls, id: call.id, type: 'custom', custom: { name: call.name, input: '' } }],
      })
    }
    // Some servers send the input in the start of the call.
    unwritten = { index: calls, input: JSON.stringify(call.input) }
    const begun = { index: calls, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }
    return adds({ tool_calls: [begun] })
  }

  function continueBlock(index: number | undefined, delta: Fields): Fields[] {
    const { type, text, partial_json } = delta
    if (type === 'text_delta') return adds({ content: read.text(text, 'delta.text') })
    if (thought !== null) return continueThought(thought, delta)
    // Some servers send thoughts in a block of text.
    if (type === 'thinking_delta') return adds({ reasoning_content: read.text(delta.thinking, 'delta.thinking') })
    const call = callAt.get(index)
    if (type !== 'input_json_delta' || call === undefined) return []
    const added = read.text(partial_json, 'delta.partial_json')
    if (wrapped !== null) {
      wrapped.json += added
      return []
    }
    if (added !== '') unwritten = null
    return adds({ tool_calls: [{ index: call, function: { arguments: added } }] })
  }

  function continueThought(open: Fields, { type, thinking, signature }: Fields): Fields[] {
    if (type === 'signature_delta')
      thought = { ...open, signature: `${open.signature ?? ''}${read.text(signature, 'delta.signature')}` }
    if (type !== 'thinking_delta') return []
    const added = read.text(thinking, 'delta.thinking')
    thought = { ...open, thinking: `${open.thinking ?? ''}${added}` }
    return added === '' ? [] : adds({ reasoning_content: added })
  }

  /** The blocks that the provider wants back come whole, as they end. */
  function endBlock(): Fields[] {
    if (wrapped !== null) {
      const { index, json } = wrapped
      wrapped = null
      return adds({ tool_calls: [{ index, custom: { input: fromCustomCall(json) } }] })
    }
    if (unwritten !== null) {
      const { index, input } = unwritten
      unwritten = null
      return adds({ tool_calls: [{ index, function: { arguments: input } }] })
    }
    const ended = thought
    thought = null
    return ended === null ? [] : adds({ thinking_blocks: [ended] })
  }

  return {
    push(event) {
      const { type, message, index: at, content_block, delta, usage: used, error } = event as Fields
      const index = read.optionalNumber(at, 'index')
      switch (type) {
        case 'message_start': {
          const { id, model, usage: begun } = read.fields(message, 'message')
          head = headOf(id, model)
          begunUsage = isObject(begun) ? begun : {}
          return adds({ role: 'assistant', content: '' })
        }
        case 'content_block_start':
          return startBlock(index, read.object(content_block, 'content_block'))
        case 'content_block_delta':
          return continueBlock(index, read.object(delta, 'delta'))
        case 'content_block_stop':
          return endBlock()
        case 'message_delta':
          // Usage at the start has the prompt alone: without a later report there is none.
          if (isObject(used)) usage = { ...begunUsage, ...present(used) }
          return adds({}, finishReason(readStop(read.fields(delta, 'delta').stop_reason)))
        case 'message_stop': {
          over = true
          const chatUsage = toChatUsage(usage)
          return chatUsage ? [chunk([], { usage: chatUsage })] : []
        }
        case 'error':
          return [{ error: { ...(isObject(error) ? error : { message: error }), param: null } }]
        default:
          return []
      }
    },
    isOver: () => over,
  }
}
