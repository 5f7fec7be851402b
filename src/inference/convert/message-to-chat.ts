import { isObject } from '../../text/json.ts'
import { asText, type Loose, present, record, records } from '../../text/loose.ts'
import { finishReason } from '../api/finish-reason.ts'
import type { ChatCompletion, Message } from '../api/requests.ts'

/** Converts a Message to the chat completion of the same request. Thinking blocks are dropped. */
export function toCompletion(message: Message): ChatCompletion {
  const { id, model, content, stop_reason, usage } = record(message)
  const blocks = records(content)
  const text = blocks.map((block) => (block.type === 'text' ? asText(block.text) : '')).join('')
  const calls = blocks.filter(isCall).map(({ id: callId, name, input }) => ({
    id: callId,
    type: 'function',
    function: { name, arguments: JSON.stringify(input ?? {}) },
  }))
  const answer = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: null,
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  return {
    ...headOf(id, model),
    object: 'chat.completion',
    choices: [{ index: 0, message: answer, logprobs: null, finish_reason: finishReason(stop_reason) }],
    ...present({ usage: toChatUsage(usage) }),
  } as unknown as ChatCompletion
}

/** Calls of the client's own tools. Searches that the provider ran are complete. */
const isCall = ({ type }: Loose): boolean => type === 'tool_use'

const headOf = (id: unknown, model: unknown) => ({
  id: asText(id) || 'chatcmpl',
  created: Math.floor(Date.now() / 1000),
  model: asText(model),
})

/** Converts a Message's usage to that of chat completions, whose prompt count includes cached tokens. */
function toChatUsage(reported: unknown): Loose | undefined {
  const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens, cache_creation } =
    record(reported)
  if (typeof input_tokens !== 'number' || typeof output_tokens !== 'number') return undefined
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
      ...present({ cache_write_1h_tokens: record(cache_creation).ephemeral_1h_input_tokens }),
    },
  }
}

/** Converts the events of a streamed Message to the chunks of a chat stream. */
export interface CompletionChunks {
  /** Converts one event. Unknown events and `ping` give nothing. */
  push(event: object): Loose[]
  /** True once the Message is complete. */
  isOver(): boolean
}

/** Creates the converter. The usage comes last, in a separate chunk. */
export function createCompletionChunks(): CompletionChunks {
  let head: Loose = headOf(undefined, undefined)
  let begunUsage: Loose = {}
  let usage: Loose = {}
  let calls = -1
  /** Position of each call among the calls, by the index of its block. */
  const callAt = new Map<unknown, number>()
  let over = false

  const chunk = (choices: Loose[], more: Loose = {}): Loose => ({
    ...head,
    object: 'chat.completion.chunk',
    choices,
    ...more,
  })
  const adds = (delta: Loose, finish_reason: string | null = null): Loose[] => [
    chunk([{ index: 0, delta, logprobs: null, finish_reason }]),
  ]

  function startBlock(index: unknown, block: Loose): Loose[] {
    if (block.type === 'text') return asText(block.text) === '' ? [] : adds({ content: block.text })
    if (!isCall(block)) return []
    callAt.set(index, ++calls)
    const begun = { index: calls, id: block.id, type: 'function', function: { name: block.name, arguments: '' } }
    return adds({ tool_calls: [begun] })
  }

  function continueBlock(index: unknown, { type, text, partial_json }: Loose): Loose[] {
    if (type === 'text_delta') return adds({ content: text })
    const call = callAt.get(index)
    if (type !== 'input_json_delta' || call === undefined) return []
    return adds({ tool_calls: [{ index: call, function: { arguments: partial_json } }] })
  }

  return {
    push(event) {
      const { type, message, index, content_block, delta, usage: used, error } = record(event)
      switch (type) {
        case 'message_start': {
          const { id, model, usage: begun } = record(message)
          head = headOf(id, model)
          begunUsage = record(begun)
          return adds({ role: 'assistant', content: '' })
        }
        case 'content_block_start':
          return startBlock(index, record(content_block))
        case 'content_block_delta':
          return continueBlock(index, record(delta))
        case 'message_delta':
          // Usage at the start has the prompt alone: without a later report there is none.
          if (isObject(used)) usage = { ...begunUsage, ...present(used) }
          return adds({}, finishReason(record(delta).stop_reason))
        case 'message_stop': {
          over = true
          const chatUsage = toChatUsage(usage)
          return chatUsage ? [chunk([], { usage: chatUsage })] : []
        }
        case 'error':
          return [{ error: { ...record(error), param: null } }]
        default:
          return []
      }
    },
    isOver: () => over,
  }
}
