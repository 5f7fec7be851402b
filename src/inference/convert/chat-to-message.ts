import { randomBytes } from 'node:crypto'
import { isObject, parseJson } from '../../text/json.ts'
import { asText, type Loose, record, records } from '../../text/loose.ts'
import { incompleteReason, type StopReason, stopReason } from '../api/finish-reason.ts'
import type { ChatCompletion, Message, MessagesRequest } from '../api/requests.ts'
import { chatText } from './response-items.ts'
import { calledTools } from './tool-names.ts'

/** Creates an id in Anthropic's format, for objects that the provider did not create. */
export const messageId = (prefix: 'msg' | 'toolu'): string => `${prefix}_${randomBytes(16).toString('hex')}`

/**
 * Converts a chat completion to the Message of the same request: text, tool calls, stop reason and usage. Reasoning is
 * dropped and a refusal becomes text. A call truncated by the token limit is dropped, since it must not be executed.
 *
 * @param completion one that did not fail (`reportedIn`)
 * @returns null when a call that was not truncated contains no JSON object
 */
export function toMessage(completion: ChatCompletion, request: MessagesRequest): Message | null {
  const choice = record(completion.choices[0])
  const message = record(choice.message)
  const nameOf = calledTools(request.tools)
  const text = chatText(message.content) + chatText(message.refusal)
  const calls = records(message.tool_calls).map((call) => toToolUse(call, nameOf))
  const isCut = incompleteReason(choice.finish_reason as string) !== null
  if (!isCut && calls.includes(null)) return null
  const uses = calls.filter((call) => call !== null)
  return {
    ...messageShell(completion.model),
    content: [...(text === '' ? [] : [{ type: 'text', text, citations: null }]), ...uses],
    ...stopOf(choice, request, { isRefusal: chatText(message.refusal) !== '', hasCalls: uses.length > 0 }),
    usage: { ...NO_USAGE, ...toMessageUsage(completion.usage) },
  } as unknown as Message
}

/** A Message without content, for the start of a stream. */
export function messageShell(model: string): Loose {
  return {
    id: messageId('msg'),
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: NO_USAGE,
  }
}

const NO_USAGE = { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 }

/** Converts chat usage to that of a Message, which counts cached tokens apart. Empty when none was reported. */
export function toMessageUsage(reported: unknown): Partial<typeof NO_USAGE> {
  if (!reported) return {}
  const { prompt_tokens, completion_tokens, prompt_tokens_details } = record(reported)
  const { cached_tokens, cache_write_tokens } = record(prompt_tokens_details)
  const prompt = count(prompt_tokens)
  const cached = Math.min(count(cached_tokens), prompt)
  const written = Math.min(count(cache_write_tokens), prompt - cached)
  return {
    input_tokens: prompt - cached - written,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    output_tokens: count(completion_tokens),
  }
}

const count = (value: unknown): number => (Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0)

/** Stop reason of an answer, and the stop sequence when the upstream reports it. */
export function stopOf(
  { finish_reason, stop_reason: matched }: Loose,
  { stop_sequences }: MessagesRequest,
  { isRefusal, hasCalls }: { isRefusal: boolean; hasCalls: boolean },
): { stop_reason: StopReason; stop_sequence: string | null } {
  // vLLM and others report the sequence in `stop_reason`.
  const isMatch = typeof matched === 'string' && Array.isArray(stop_sequences) && stop_sequences.includes(matched)
  if (isMatch) return { stop_reason: 'stop_sequence', stop_sequence: matched }
  return { stop_reason: isRefusal ? 'refusal' : stopReason(finish_reason, hasCalls), stop_sequence: null }
}

function toToolUse({ id, function: called }: Loose, nameOf: (chatName: string) => string): Loose | null {
  const { name, arguments: args } = record(called)
  const written = asText(args)
  const input = written.trim() === '' ? {} : parseJson(written)
  if (!isObject(input)) return null
  return { type: 'tool_use', id: asText(id) || messageId('toolu'), name: nameOf(asText(name)), input }
}
