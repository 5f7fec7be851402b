import type OpenAI from 'openai'
import { asText, type Loose, present, records } from '../../text/loose.ts'
import type { ResponseRequest } from '../api/requests.ts'
import type { CallableTools } from './callable-tools.ts'
import { toCustomCall } from './response-tools.ts'

type Message = OpenAI.Chat.ChatCompletionMessageParam
type Part = OpenAI.Chat.ChatCompletionContentPart
type ToolCall = OpenAI.Chat.ChatCompletionMessageFunctionToolCall

/**
 * Converts the instructions and input of a Responses request to chat messages:
 * - The calls of one turn become one assistant message, as chat completions requires.
 * - A refusal becomes assistant text.
 * - Images, files and audio in a tool's output move to a user message, since tool messages contain only text.
 * - Reasoning, references and calls of built-in tools are dropped.
 *
 * @param chatName name in chat of the tool of a call
 */
export function toMessages({ instructions, input }: ResponseRequest, chatName: CallableTools['chatName']): Message[] {
  const thread = createThread()
  if (instructions) thread.add({ role: 'system', content: asText(instructions) })
  if (typeof input === 'string') thread.add({ role: 'user', content: input })
  const items = withResults(records(input))
  const answered = new Set(items.filter((item) => item.type === 'custom_tool_call_output').map((item) => item.call_id))
  for (const item of items) append(thread, item, answered, chatName)
  return thread.close()
}

/**
 * Reorders items so that the calls of a turn are followed by all of their results, in the same order. Chat completions
 * allows no message in between. Unpaired items keep their place.
 */
function withResults(items: Loose[]): Loose[] {
  const results = new Map<unknown, Loose[]>()
  for (const item of items.filter(isResult)) {
    const others = results.get(item.call_id)
    if (others) others.push(item)
    else results.set(item.call_id, [item])
  }
  const ordered: Loose[] = []
  let open: unknown[] = []
  const answer = (callId: unknown) => {
    const result = results.get(callId)?.shift()
    if (result) ordered.push(result)
  }
  for (const item of items) {
    if (isCall(item)) open.push(item.call_id)
    if (isResult(item) || isSaidToModel(item)) {
      for (const callId of open) answer(callId)
      open = []
    }
    if (!isResult(item)) ordered.push(item)
    else if (results.get(item.call_id)?.[0] === item) answer(item.call_id)
  }
  return ordered
}

const isCall = ({ type }: Loose) => type === 'function_call' || type === 'custom_tool_call'
const isResult = ({ type }: Loose) => type === 'function_call_output' || type === 'custom_tool_call_output'
const isSaidToModel = ({ type, role }: Loose) => (type ?? 'message') === 'message' && role !== 'assistant'

/**
 * Appends an item to the thread.
 *
 * @param answered ids of the custom calls that the client has answered; the others are searches of the provider
 */
function append(
  thread: Thread,
  item: Loose,
  answered: ReadonlySet<unknown>,
  chatName: CallableTools['chatName'],
): void {
  switch (item.type ?? 'message') {
    case 'message':
      appendMessage(thread, item)
      return
    case 'function_call':
      thread.call(item.call_id, chatName(item), asText(item.arguments ?? '{}'))
      return
    case 'custom_tool_call':
      if (answered.has(item.call_id)) thread.call(item.call_id, chatName(item), toCustomCall(item.input))
      return
    case 'function_call_output':
    case 'custom_tool_call_output':
      thread.result(item.call_id, item.output)
  }
}

function appendMessage(thread: Thread, { role, content }: Loose): void {
  if (role === 'system' || role === 'developer') thread.add({ role: 'system', content: textOf(content) })
  if (role === 'assistant') thread.say(textOf(content))
  if (role === 'user') thread.add({ role: 'user', content: compact(toParts(content)) })
}

type Thread = ReturnType<typeof createThread>

/** Builds messages in the order that chat completions requires: calls in one message, their results right after it. */
function createThread() {
  const messages: Message[] = []
  let attachments: Part[] = []

  function add(message: Message): void {
    if (attachments.length > 0) messages.push({ role: 'user', content: attachments })
    attachments = []
    messages.push(message)
  }

  /** Adds assistant text. Joins the message of calls whose results are still to come. */
  function say(text: string): void {
    const last = messages.at(-1)
    if (last?.role === 'assistant' && last.tool_calls) last.content = last.content ? `${last.content}\n${text}` : text
    else add({ role: 'assistant', content: text })
  }

  function call(callId: unknown, name: string, args: string): void {
    const made: ToolCall = { id: asText(callId), type: 'function', function: { name, arguments: args } }
    const last = messages.at(-1)
    if (last?.role === 'assistant') last.tool_calls = [...(last.tool_calls ?? []), made]
    else add({ role: 'assistant', content: null, tool_calls: [made] })
  }

  function result(callId: unknown, output: unknown): void {
    const isList = Array.isArray(output)
    messages.push({ role: 'tool', tool_call_id: asText(callId), content: isList ? textOf(output) : asText(output) })
    if (isList) attachments.push(...toParts(output).filter((part) => part.type !== 'text'))
  }

  function close(): Message[] {
    if (attachments.length > 0) messages.push({ role: 'user', content: attachments })
    attachments = []
    return messages
  }

  return { add, say, call, result, close }
}

/** Joins text parts into a plain string, which every upstream accepts. Other parts stay a list. */
function compact(parts: Part[]): string | Part[] {
  return parts.every((part) => part.type === 'text') ? parts.map((part) => part.text).join('\n') : parts
}

function toParts(content: unknown): Part[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return records(content).flatMap((part) => toPart(part))
}

function toPart(part: Loose): Part[] {
  if (part.type === 'input_image') return [toImage(part)]
  if (part.type === 'input_file') return [toFile(part)]
  // The part is the same in both APIs.
  if (part.type === 'input_audio') return [part as unknown as Part]
  const text = part.text ?? part.refusal
  return typeof text === 'string' ? [{ type: 'text', text }] : []
}

/**
 * Converts an image. Chat completions takes images by URL only; one stored at the provider becomes a placeholder text.
 */
function toImage({ image_url: url, detail, file_id }: Loose): Part {
  if (typeof url !== 'string') return { type: 'text', text: `[image ${asText(file_id)} that cannot be shown here]` }
  // `original` does not exist in chat completions; `high` is the nearest.
  const known = detail === 'original' ? 'high' : detail
  return { type: 'image_url', image_url: { url, ...present({ detail: known as 'auto' | 'low' | 'high' }) } }
}

function toFile({ file_id, filename, file_data, file_url }: Loose): Part {
  const file = present({ file_id, filename, file_data }) as { file_id?: string; filename?: string; file_data?: string }
  if (file.file_id || file.file_data) return { type: 'file', file }
  return { type: 'text', text: `[file ${asText(filename ?? file_url)} that cannot be opened here]` }
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  const texts = records(content).map((part) => part.text ?? part.refusal)
  return texts.filter((text) => typeof text === 'string').join('\n')
}
