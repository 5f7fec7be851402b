import { randomUUID } from 'node:crypto'
import { isObject, parseJson } from '../../text/json.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { incompleteReason, type StopReason, stopReason } from '../api/finish-reason.ts'
import type { ChatCompletion, Message, MessagesRequest } from '../api/requests.ts'
import { createStateReader, NO_STATE, type ReasoningState } from '../reasoning/reasoning-state.ts'
import { read } from './answer-reader.ts'
import { type ChatCall, readChatAnswer } from './chat-answer.ts'
import { type SealState, showsThinking, thinkingBlock, UNSEALED } from './thinking-blocks.ts'
import { calledTools } from './tool-names.ts'
import { unwrapped } from './wrapped-arguments.ts'

/** Creates an id in Anthropic's format, for objects that the provider did not create. */
export const messageId = (prefix: 'msg' | 'toolu'): string => `${prefix}_${randomUUID().replaceAll('-', '')}`

/**
 * Converts a chat completion to the Message of the same request: reasoning, text, tool calls, stop reason and usage. A
 * refusal becomes text. A call truncated by the token limit is dropped, since it must not be executed.
 *
 * @param completion one that did not fail (`reportedIn`)
 * @param seal seals the reasoning state, for the client to bring back
 * @returns null when a call that was not truncated contains no JSON object
 */
export function toMessage(
  completion: ChatCompletion,
  request: MessagesRequest,
  seal: SealState = UNSEALED,
): Message | null {
  const choice = read.fields(read.list(completion.choices, 'choices')[0], 'choices.0')
  const said = readChatAnswer(choice.message, 'choices.0.message')
  const nameOf = calledTools(request.tools)
  const state = createStateReader()
  state.add(said.state)
  const text = said.text + said.refusal
  const calls = said.calls.map((call) => {
    const use = toToolUse(call, nameOf)
    if (use !== null && call.extra !== null) state.addCall(String(use.id), call.extra)
    return use
  })
  const thoughts = showsThinking(request) ? thinkingBlocks(said.reasoning, state.take(), seal) : []
  const isCut = incompleteReason(read.optionalText(choice.finish_reason, 'choices.0.finish_reason')) !== null
  if (!isCut && calls.includes(null)) return null
  const uses = calls.filter((call) => call !== null)
  const message = messageShell(request.model || completion.model)
  message.content = [...thoughts, ...(text === '' ? [] : [{ type: 'text', text }]), ...uses]
  const ending = stopOf(choice, request, { isRefusal: said.refusal !== '', hasCalls: uses.length > 0 })
  message.stop_reason = ending.stop_reason
  message.stop_sequence = ending.stop_sequence
  message.usage = { ...NO_USAGE, ...toMessageUsage(completion.usage) }
  return message as unknown as Message
}

const thinkingBlocks = (thinking: string, state: ReasoningState | null, seal: SealState): Fields[] =>
  thinking === '' && state === null ? [] : [thinkingBlock(thinking, state ?? NO_STATE, seal)]

/**
 * A Message without content, for the start of a stream.
 *
 * @param model name by which the client asked: Claude Code drops the thinking blocks of another model than it asked
 */
export function messageShell(model: string): Fields {
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

/**
 * Converts chat usage to that of a Message, which counts cached tokens apart. Empty when none was reported. A count that
 * is no number is unknown, as in the record of the call: the answer itself is good.
 */
export function toMessageUsage(reported: unknown): Partial<typeof NO_USAGE> {
  if (!isObject(reported)) return {}
  const { prompt_tokens, completion_tokens, prompt_tokens_details: details } = reported
  const { cached_tokens, cache_write_tokens } = isObject(details) ? details : {}
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
  { finish_reason, stop_reason: matched }: Fields,
  { stop_sequences }: MessagesRequest,
  { isRefusal, hasCalls }: { isRefusal: boolean; hasCalls: boolean },
): { stop_reason: StopReason; stop_sequence: string | null } {
  // vLLM and others report the sequence in `stop_reason`.
  const isMatch = typeof matched === 'string' && Array.isArray(stop_sequences) && stop_sequences.includes(matched)
  if (isMatch) return { stop_reason: 'stop_sequence', stop_sequence: matched }
  return { stop_reason: isRefusal ? 'refusal' : stopReason(finish_reason, hasCalls), stop_sequence: null }
}

function toToolUse({ id, name, arguments: args }: ChatCall, nameOf: (chatName: string) => string): Fields | null {
  const input = args.trim() === '' ? {} : parseJson(unwrapped(args))
  if (!isObject(input)) return null
  return { type: 'tool_use', id: id || messageId('toolu'), name: nameOf(name), input }
}
