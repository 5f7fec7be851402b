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

/** Custom tools of a request without any. */
export const NO_CUSTOM: ReadonlySet<unknown> = new Set()

function toCall(
  { id, name, input }: { id: string; name: string; input: Fields },
  custom: ReadonlySet<unknown>,
): Fields {
  const args = JSON.stringify(input)
  return custom.has(name)
    ? { id, type: 'custom', custom: { name, input: fromCustomCall(args) } }
    : { id, type: 'function', function: { name, arguments: args } }
}

/** Reads the reason why a Message has ended. */
export const readStop = (reason: unknown): string | undefined => read.optionalText(reason, 'stop_reason')

/** A content block: its text, its thinking, or the call of a tool of the client. */
export interface ReadBlock {
  text: string
  thinking: string
  /** The block itself, when the provider wants it back. */
  kept: Fields | null
  call: { id: string; name: string; input: Fields } | null
}

const EMPTY: ReadBlock = { text: '', thinking: '', kept: null, call: null }

/**
 * Reads a content block. Searches that the provider ran are complete, and have neither text nor call.
 *
 * @throws WrongTypeError
 */
export function readBlock(block: Fields, index: number): ReadBlock {
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

/** Composes the head of a chat completion, or of its chunks. */
export const headOf = (id: unknown, model: unknown) => ({
  id: read.optionalText(id, 'id') || 'chatcmpl',
  created: Math.floor(Date.now() / 1000),
  model: read.optionalText(model, 'model') ?? '',
})

/**
 * Converts a Message's usage to that of chat completions, whose prompt count includes cached tokens. Undefined when it
 * cannot be read: the answer itself is good.
 */
export function toChatUsage(reported: unknown): Fields | undefined {
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
