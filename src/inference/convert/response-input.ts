import type OpenAI from 'openai'
import { objectsOrNone } from '../../text/lenient-reader.ts'
import { present } from '../../text/present.ts'
import type { Fields } from '../../text/typed-reader.ts'
import type { ResponseRequest } from '../api/requests.ts'
import { textOfFile } from '../dialect/media.ts'
import { acceptable, joinStates, putBack, type ReasoningState } from '../reasoning/reasoning-state.ts'
import type { Takes } from './accepted-forms.ts'
import { markIn, withMark } from './anthropic-cache-marks.ts'
import { type CallableTools, itemsOf, WITH_TOOLS } from './callable-tools.ts'
import { isCall, isResult, isSaidToModel } from './calls-without-reasoning.ts'
import { toCustomCall } from './custom-tools.ts'
import { asFunctionItem } from './own-tools.ts'
import { read, readContent, textOrJson, unsupported, wrongType } from './request-reader.ts'
import type { Thoughts } from './thinking-blocks.ts'

type Message = OpenAI.Chat.ChatCompletionMessageParam
type Part = OpenAI.Chat.ChatCompletionContentPart
type ToolCall = OpenAI.Chat.ChatCompletionMessageFunctionToolCall

/**
 * Converts the instructions and input of a Responses request to chat messages:
 * - The calls of one turn become one assistant message, as chat completions requires.
 * - A refusal becomes assistant text.
 * - Images, files and audio in a tool's output move to a user message, since tool messages contain only text.
 * - Reasoning is put back into the message that it came with, where it belongs to this upstream.
 * - Marks for a cache are kept at the ends of messages and results, where the upstream takes them.
 * - References and calls of tools that the provider runs are dropped.
 *
 * @param chatName name in chat of the tool of a call
 * @throws GazewayError `invalid_request` naming an item or part that is malformed or unknown
 */
export function toMessages(
  { instructions, input }: ResponseRequest,
  chatName: CallableTools['chatName'],
  thoughts: Thoughts,
  { fileUrls: takesUrls = false, cacheMarks = false }: Takes = {},
): Message[] {
  const thread = createThread(takesUrls)
  const system = read.optionalText(instructions, 'instructions') ?? ''
  if (system !== '') thread.add({ role: 'system', content: system })
  if (typeof input === 'string') thread.add({ role: 'user', content: input })
  const items = itemsOf(input).map(asFunctionItem)
  const paths = new Map(items.map((item, index) => [item, `input.${index}`]))
  const answered = new Set(items.filter((item) => item.type === 'custom_tool_call_output').map((item) => item.call_id))
  for (const item of withResults(items)) {
    append(thread, item, { path: paths.get(item) as string, answered, chatName, thoughts, takesUrls })
    if (cacheMarks) thread.mark(markIn([...objectsOrNone(item.content), ...objectsOrNone(item.output), item]))
  }
  return thread.close()
}

/**
 * Reorders items so that the calls of a turn are followed by all of their results, in the same order. Chat completions
 * allows no message in between. Unpaired items keep their place.
 */
function withResults(items: Fields[]): Fields[] {
  const results = new Map<unknown, Fields[]>()
  // The first at the end: to take it there costs no other a move.
  for (const item of items.filter(isResult).reverse()) {
    const others = results.get(item.call_id)
    if (others) others.push(item)
    else results.set(item.call_id, [item])
  }
  const ordered: Fields[] = []
  let open: unknown[] = []
  const answer = (callId: unknown) => {
    const result = results.get(callId)?.pop()
    if (result) ordered.push(result)
  }
  for (const item of items) {
    if (isCall(item)) open.push(item.call_id)
    if (isResult(item) || isSaidToModel(item)) {
      for (const callId of open) answer(callId)
      open = []
    }
    if (!isResult(item)) ordered.push(item)
    else if (results.get(item.call_id)?.at(-1) === item) answer(item.call_id)
  }
  return ordered
}

/** Context of an item. */
interface Place {
  path: string
  /** True where the upstream takes files by their address. */
  takesUrls: boolean
  /** Ids of the custom calls that the client has answered; the others are searches of the provider. */
  answered: ReadonlySet<unknown>
  chatName: CallableTools['chatName']
  thoughts: Thoughts
}

function append(thread: Thread, item: Fields, { path, answered, chatName, thoughts, takesUrls }: Place): void {
  const callId = () => read.text(item.call_id, `${path}.call_id`)
  const kept = isCall(item) ? thoughts.kept?.(item) : null
  if (kept) thread.think(kept)
  switch (read.optionalText(item.type, `${path}.type`) ?? 'message') {
    case 'message':
      appendMessage(thread, item, { path, takesUrls })
      return
    case 'reasoning': {
      const state = thoughts.open(item.encrypted_content)
      if (state === null) thoughts.note(path, 'dropped')
      else thread.think(state)
      return
    }
    case 'function_call':
      thread.call(callId(), chatName(item, path), textOrJson(item.arguments ?? '{}'))
      return
    case 'custom_tool_call': {
      const id = callId()
      if (answered.has(id)) thread.call(id, chatName(item, path), toCustomCall(read.text(item.input, `${path}.input`)))
      return
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
      thread.result(callId(), item.output, `${path}.output`)
      return
    default:
      if (!WITH_TOOLS.has(item.type)) thoughts.note(path, 'dropped')
  }
}

function appendMessage(
  thread: Thread,
  { role, content }: Fields,
  { path, takesUrls }: Pick<Place, 'path' | 'takesUrls'>,
): void {
  const at = `${path}.content`
  switch (role) {
    case 'system':
    case 'developer':
      thread.add({ role: 'system', content: textOf(content, at) })
      return
    case 'assistant':
      thread.say(textOf(content, at))
      return
    case 'user':
      thread.add({ role, content: compact(toParts(content, at, takesUrls)) })
      return
    default:
      throw wrongType(`${path}.role`, '"user", "assistant", "system" or "developer"')
  }
}

type Thread = ReturnType<typeof createThread>

/** Builds messages in the order that chat completions requires: calls in one message, their results right after it. */
function createThread(takesUrls: boolean) {
  const messages: Message[] = []
  let attachments: Part[] = []
  /** Reasoning of the next assistant message. */
  let pending: ReasoningState[] = []
  const states = new Map<Message, ReasoningState[]>()
  const marks = new Map<Message, Fields>()

  /** Marks the end of the newest message for a cache. */
  function mark(marking: Fields): void {
    const last = messages.at(-1)
    if (last !== undefined && Object.keys(marking).length > 0) marks.set(last, marking)
  }

  function think(state: ReasoningState): void {
    pending.push(state)
  }

  /**
   * Gives the reasoning so far to the assistant message that was just begun or continued. What follows its last item is of
   * the same message: signatures may come late.
   */
  function claimReasoning(): void {
    const last = messages.at(-1)
    if (last?.role !== 'assistant' || pending.length === 0) return
    const own = states.get(last)
    if (own === undefined) states.set(last, pending)
    else for (const state of pending) own.push(state)
    pending = []
  }

  function add(message: Message): void {
    if (message.role !== 'assistant') {
      claimReasoning()
      pending = []
    }
    if (attachments.length > 0) messages.push({ role: 'user', content: attachments })
    attachments = []
    messages.push(message)
  }

  /** Adds assistant text. Joins the message of calls whose results are still to come. */
  function say(text: string): void {
    const last = messages.at(-1)
    if (last?.role === 'assistant' && last.tool_calls) last.content = last.content ? `${last.content}\n${text}` : text
    else add({ role: 'assistant', content: text })
    claimReasoning()
  }

  function call(id: string, name: string, args: string): void {
    const made: ToolCall = { id, type: 'function', function: { name, arguments: args } }
    const last = messages.at(-1)
    if (last?.role === 'assistant') {
      last.tool_calls ??= []
      last.tool_calls.push(made)
    } else add({ role: 'assistant', content: null, tool_calls: [made] })
    claimReasoning()
  }

  function result(tool_call_id: string, output: unknown, path: string): void {
    const parts = Array.isArray(output) ? toParts(output, path, takesUrls) : []
    const text = Array.isArray(output) ? joinedText(parts) : textOrJson(output)
    claimReasoning()
    messages.push({ role: 'tool', tool_call_id, content: text })
    // One by one: a hostile result has more parts than a call takes arguments.
    for (const part of parts) if (part.type !== 'text') attachments.push(part)
  }

  function close(): Message[] {
    if (attachments.length > 0) messages.push({ role: 'user', content: attachments })
    attachments = []
    return acceptable(
      messages.map((message) => {
        const own = states.get(message)
        return marked(own === undefined ? message : putBack(message, joinStates(own)), marks.get(message))
      }),
    )
  }

  return { add, mark, think, say, call, result, close }
}

/** The message with a mark at the end of its content. */
const marked = (message: Message, mark: Fields = {}): Message =>
  (message.content ?? null) === null ? message : ({ ...message, content: withMark(message.content, mark) } as Message)

/** Joins text parts into a plain string, which every upstream accepts. Other parts stay a list. */
const compact = (parts: Part[]): string | Part[] =>
  parts.every((part) => part.type === 'text') ? joinedText(parts) : parts

const joinedText = (parts: readonly Part[]): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')

function toParts(content: unknown, path: string, takesUrls: boolean): Part[] {
  const parts = readContent(content, path)
  if (typeof parts === 'string') return [{ type: 'text', text: parts }]
  return parts.map((part, index) => toPart(part, `${path}.${index}`, takesUrls))
}

function toPart(part: Fields, path: string, takesUrls: boolean): Part {
  const type = read.optionalText(part.type, `${path}.type`)
  if (type === 'input_image') return toImage(part, path)
  if (type === 'input_file') return toFile(part, path, takesUrls)
  // The part is the same in both APIs.
  if (type === 'input_audio') return part as unknown as Part
  return { type: 'text', text: readText(part, path) }
}

/** Text of a part that has one, whatever its type. */
function readText({ type: given, text, refusal }: Fields, path: string): string {
  const type = read.optionalText(given, `${path}.type`)
  const [field, value] = type === 'refusal' ? ['refusal', refusal] : ['text', text]
  if ((value ?? null) === null && type !== undefined)
    throw unsupported(`${path}.type`, `chat completions has no counterpart of the part type ${type} here`)
  return read.text(value, `${path}.${field}`)
}

/** Converts an image. @throws GazewayError for one stored at the provider: chat completions takes images by URL only */
function toImage({ image_url, detail, file_id }: Fields, path: string): Part {
  const url = read.optionalText(image_url, `${path}.image_url`)
  if (url === undefined) {
    read.text(file_id, `${path}.file_id`)
    throw unsupported(`${path}.file_id`, 'chat completions takes images by URL or as data')
  }
  // `original` does not exist in chat completions; `high` is the nearest.
  const known = detail === 'original' ? 'high' : detail
  return { type: 'image_url', image_url: { url, ...present({ detail: known as 'auto' | 'low' | 'high' }) } }
}

/** Converts a file. @throws GazewayError for an address that the upstream would not read */
function toFile(part: Fields, path: string, takesUrls: boolean): Part {
  const [file_id, filename, file_data, url] = ['file_id', 'filename', 'file_data', 'file_url'].map((name) =>
    read.optionalText(part[name], `${path}.${name}`),
  )
  const text = file_data === undefined ? null : textOfFile(file_data)
  if (text !== null) return { type: 'text', text: filename === undefined ? text : `${filename}\n${text}` }
  if (file_id || file_data)
    return { type: 'file', file: present({ file_id, filename, file_data }) as { file_id?: string } }
  if (url === undefined) throw wrongType(path, 'an object with file_data, file_id or file_url')
  if (!takesUrls) throw unsupported(`${path}.file_url`, 'this upstream does not take files by url; send file_data')
  return { type: 'file', file: present({ filename, file_data: url }) as { file_data: string } }
}

/** Text of content that may contain nothing else. */
function textOf(content: unknown, path: string): string {
  const parts = readContent(content, path)
  if (typeof parts === 'string') return parts
  return parts.map((part, index) => readText(part, `${path}.${index}`)).join('\n')
}
