import { createHash } from 'node:crypto'
import type OpenAI from 'openai'
import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import { present } from '../../text/present.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { CHAT_LIMIT } from '../api/answer-limit.ts'
import type { ChatRequest, MessagesRequest } from '../api/requests.ts'
import { acceptable, joinStates, putBack, type ReasoningState } from '../reasoning/reasoning-state.ts'
import type { Takes } from './accepted-forms.ts'
import { hasMarks, markIn, withMark } from './anthropic-cache-marks.ts'
import { functionOfTyped } from './anthropic-tools.ts'
import { isBilling } from './billing-line.ts'
import { effortOf } from './effort.ts'
import { exactJson } from './exact-json.ts'
import { blocksOf, compact, textOf, toPart, toParts } from './messages-content.ts'
import { type Note, noteUnread, UNNOTED } from './reported-changes.ts'
import { read, unsupported, wrongType } from './request-reader.ts'
import { type Thoughts, UNOPENED } from './thinking-blocks.ts'
import { chatToolName } from './tool-names.ts'

type ChatMessage = OpenAI.Chat.ChatCompletionMessageParam
type Part = OpenAI.Chat.ChatCompletionContentPart

/** Fields that change the answer and have no counterpart in chat completions. */
const REFUSED: Readonly<Record<string, string>> = {
  mcp_servers: 'chat completions calls no MCP servers; offer their tools in tools',
  container: 'chat completions runs no code in containers',
  inference_geo: 'this upstream cannot select a region; omit it',
}
/** Fields that are converted, or refused. */
const READ: ReadonlySet<string> = new Set([
  ...['model', 'stream', 'system', 'messages', 'max_tokens', 'temperature', 'top_p', 'top_k', 'stop_sequences'],
  'metadata',
  ...['thinking', 'output_config', 'output_format', 'tools', 'tool_choice', 'cache_control'],
  ...Object.keys(REFUSED),
])
/** Blocks of instructions that change the tools. */
const TOOL_CHANGES: ReadonlySet<unknown> = new Set(['tool_addition', 'tool_removal'])
/** Anthropic's search in tools that are loaded on demand. Chat completions gets them all at once. */
const TOOL_SEARCH = /^tool_search_tool/
/** Longest user id in chat completions. */
const LONGEST_USER = 64
/** Thinking blocks of an assistant turn. */
const THOUGHTS: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking'])

/**
 * Converts a Messages request to the equivalent chat request. Thinking settings become the reasoning effort
 * where the model is known to take one. Marks for a cache are kept on tools and at the ends of the instructions and of turns, where
 * the upstream takes them. Anthropic's line about billing is omitted: it differs in each session, and begins the prompt.
 *
 * @param note notes what was dropped
 * @param model id at the upstream: some take no reasoning effort
 * @param thoughts.open opens the reasoning state that thinking blocks bring back; other thinking is dropped
 * @param thoughts.kept finds the state of answers that came without such blocks, by their first call in chat
 * @param takes forms beyond the common one that the upstream takes
 * @throws GazewayError `invalid_request` naming what chat completions cannot express, and why
 */
export function toChatFromMessages(
  request: MessagesRequest,
  note: Note = UNNOTED,
  thoughts: Omit<Thoughts, 'note'> = { open: UNOPENED },
  model = '',
  { fileUrls = false, cacheMarks = false }: Takes = {},
): ChatRequest {
  const given = request as unknown as Fields
  noteUnread(given, READ, note)
  if (!cacheMarks && hasMarks(given)) note('cache_control', 'dropped')
  for (const [name, why] of Object.entries(REFUSED)) {
    const value = given[name] ?? null
    if (value !== null && !(Array.isArray(value) && value.length === 0)) throw unsupported(name, why)
  }
  const { stop_sequences: stop } = given
  const effort = effortOf(given, model)
  noteThinking(given, effort, note)
  const chat: Fields = {
    messages: toChatMessages(request, { note, takesUrls: fileUrls, keepsMarks: cacheMarks, ...thoughts }),
    [CHAT_LIMIT]: given.max_tokens,
    temperature: given.temperature,
    top_p: given.top_p,
    top_k: given.top_k,
    stop: Array.isArray(stop) && stop.length === 0 ? undefined : stop,
    user: userOf(read.fields(given.metadata, 'metadata').user_id),
    response_format: responseFormat(given),
    reasoning_effort: effort,
    ...toChatTools(given, note, cacheMarks),
    cache_control: cacheMarks ? given.cache_control : undefined,
  }
  return present(chat) as unknown as ChatRequest
}

/** Notes thinking settings that the model is not told. */
function noteThinking({ thinking, output_config }: Fields, effort: string | undefined, note: Note): void {
  if (effort !== undefined) return
  if ((thinking ?? null) !== null) note('thinking', 'dropped')
  if ((fieldsOrNone(output_config).effort ?? null) !== null) note('output_config.effort', 'dropped')
}

/** Terms of the conversion of a turn. */
type Terms = Thoughts & { takesUrls: boolean; keepsMarks: boolean }

function toChatMessages({ system, messages }: MessagesRequest, thoughts: Terms): ChatMessage[] {
  const given = system === undefined || system === null ? '' : system
  const blocks = typeof given === 'string' ? given : blocksOf(given, 'system').filter((block) => !isBilling(block))
  const instructions = textOf(blocks, 'system', '\n')
  const marked = (of: ChatMessage[], content: unknown) => (thoughts.keepsMarks ? withMarkOf(of, content) : of)
  const all = read.objects(messages, 'messages')
  const turns = all.flatMap((message, index) => marked(toTurn(message, `messages.${index}`, thoughts), message.content))
  const head: ChatMessage[] = instructions === '' ? [] : [{ role: 'system', content: instructions }]
  return [...marked(head, blocks), ...acceptable(turns)]
}

/** Marks the end of the messages that stand for some content, where it has a mark. */
function withMarkOf(messages: ChatMessage[], content: unknown): ChatMessage[] {
  const last = messages.at(-1)
  const mark = markIn(content)
  if (last === undefined || (last.content ?? null) === null) return messages
  return [...messages.slice(0, -1), { ...last, content: withMark(last.content, mark) } as ChatMessage]
}

function toTurn({ role, content }: Fields, path: string, thoughts: Terms): ChatMessage[] {
  const at = `${path}.content`
  switch (role) {
    case 'user':
      return toUser(content, at, thoughts.takesUrls)
    case 'assistant':
      return toAssistant(blocksOf(content, at), at, thoughts)
    case 'system':
      return toSystem(content, at)
    default:
      throw wrongType(`${path}.role`, '"user" or "assistant"')
  }
}

/** Converts an instruction between turns. Tools that it adds are offered with the others; none is taken away. */
function toSystem(content: unknown, path: string): ChatMessage[] {
  const blocks = blocksOf(content, path)
  const said = blocks.filter(({ type }) => !TOOL_CHANGES.has(type))
  return said.length === 0 && blocks.length > 0 ? [] : [{ role: 'system', content: textOf(said, path, '\n') }]
}

/** Tools that instructions between turns define, as `inline-tools-2026-09-15` has them. */
const addedTools = (messages: unknown): Fields[] =>
  objectsOrNone(messages)
    .filter(({ role }) => role === 'system')
    .flatMap(({ content }) => objectsOrNone(content))
    .filter(({ type }) => type === 'tool_addition')
    .flatMap(({ tool }) => {
      const { type, definition } = fieldsOrNone(tool)
      return type === 'tool_definition' ? objectsOrNone([definition]) : []
    })

/** Converts an assistant turn, its text and its calls, to one message. Empty when the turn contains thinking only. */
function toAssistant(blocks: Fields[], path: string, { note, open, kept }: Thoughts): ChatMessage[] {
  let text = ''
  const states: ReasoningState[] = []
  const unread: string[] = []
  const calls: OpenAI.Chat.ChatCompletionMessageFunctionToolCall[] = []
  for (const [index, block] of blocks.entries()) {
    const at = `${path}.${index}`
    const type = read.text(block.type, `${at}.type`)
    if (type === 'text') text += read.text(block.text, `${at}.text`)
    else if (type === 'tool_use') calls.push(toCall(block, at))
    else if (THOUGHTS.has(type)) {
      const state = open(type === 'thinking' ? block.signature : block.data)
      if (state === null) unread.push(at)
      else states.push(state)
    } else
      throw unsupported(
        `${at}.type`,
        `chat completions has no counterpart of the block type ${type} in an earlier answer`,
      )
  }
  const [first] = calls
  const alone = states.length === 0 && first !== undefined ? kept?.({ ...first }) : null
  if (alone) states.push(alone)
  else for (const at of unread) note(at, 'dropped')
  if (text === '' && calls.length === 0) return []
  const content = text === '' ? null : text
  const said: ChatMessage = { role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) }
  return [states.length === 0 ? said : putBack(said, joinStates(states))]
}

function toCall({ id, name, input }: Fields, path: string): OpenAI.Chat.ChatCompletionMessageFunctionToolCall {
  const called = chatToolName(read.text(name, `${path}.name`))
  return {
    id: read.text(id, `${path}.id`),
    type: 'function',
    function: { name: called, arguments: exactJson(read.fields(input, `${path}.input`)) },
  }
}

/**
 * Converts a user turn: the tool results first, a message each, since chat completions wants them right after their
 * calls; then the user's content.
 */
function toUser(content: unknown, path: string, takesUrls: boolean): ChatMessage[] {
  const results: ChatMessage[] = []
  const attached: Part[] = []
  const own: Part[] = []
  for (const [index, block] of blocksOf(content, path).entries()) {
    const at = `${path}.${index}`
    if (block.type !== 'tool_result') {
      for (const part of toPart(block, at, takesUrls)) own.push(part)
      continue
    }
    const parts = toParts(block.content, `${at}.content`, takesUrls)
    const media = parts.filter((part) => part.type !== 'text')
    const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
    const isError = read.optionalBoolean(block.is_error, `${at}.is_error`) === true
    const tool_call_id = read.text(block.tool_use_id, `${at}.tool_use_id`)
    results.push({ role: 'tool', tool_call_id, content: resultText(text, { isError, hasMedia: media.length > 0 }) })
    // Tool results contain only text in chat completions.
    // One by one: a hostile result has more parts than a call takes arguments.
    for (const part of media) attached.push(part)
  }
  const parts = [...attached, ...own]
  return parts.length === 0 ? results : [...results, { role: 'user', content: compact(parts) }]
}

/** Text of a tool result. Errors are marked in the text, since chat completions has no field for them. */
function resultText(text: string, { isError, hasMedia }: { isError: boolean; hasMedia: boolean }): string {
  const content = text === '' && hasMedia ? 'The result follows in the next message.' : text
  return isError && !/^error\b/i.test(content) ? `Error: ${content}` : content
}

/** User id for chat completions. A longer one is replaced by its hash, which is stable. */
function userOf(id: unknown): string | undefined {
  const user = read.optionalText(id, 'metadata.user_id') ?? ''
  if (user === '') return undefined
  return user.length <= LONGEST_USER ? user : createHash('sha256').update(user).digest('hex')
}

function responseFormat({ output_config, output_format }: Fields): Fields | undefined {
  const { format } = read.fields(output_config, 'output_config')
  const path = (format ?? null) === null ? 'output_format' : 'output_config.format'
  const { type, schema } = read.fields(format ?? output_format, path)
  const form = read.optionalText(type, `${path}.type`)
  if (form === undefined) return undefined
  if (form !== 'json_schema') throw unsupported(path, `chat completions has no format ${form}; use json_schema`)
  return { type: 'json_schema', json_schema: { name: 'response', schema, strict: true } }
}

function toChatTools({ tools: given, tool_choice, messages }: Fields, note: Note, keepsMarks: boolean): Fields {
  const offered = read.objects(given, 'tools').flatMap((tool, index) => {
    if (!TOOL_SEARCH.test(String(tool.type)))
      return [{ ...toTool(tool, index), ...(keepsMarks && present({ cache_control: tool.cache_control })) }]
    note(`tools.${index}`, 'dropped')
    return []
  })
  const known = new Set(read.objects(given, 'tools').map(({ name }) => name))
  const added = addedTools(messages).filter(({ name }) => !known.has(name))
  const tools = [...offered, ...added.map((tool, index) => toTool(tool, known.size + index))]
  const choice = read.fields(tool_choice, 'tool_choice')
  const alone = read.optionalBoolean(choice.disable_parallel_tool_use, 'tool_choice.disable_parallel_tool_use')
  const chosen = toChoice(choice)
  if (tools.length === 0) return {}
  return { tools, tool_choice: chosen, parallel_tool_calls: alone === true ? false : undefined }
}

function toTool(tool: Fields, index: number): Fields {
  const { type: given, name: own, description, input_schema, strict } = tool
  const type = read.optionalText(given, `tools.${index}.type`) ?? 'custom'
  const name = chatToolName(read.text(own, `tools.${index}.name`))
  const typed = type === 'custom' ? null : functionOfTyped(tool)
  if (typed !== null) return { type: 'function', function: { name, ...typed } }
  if (type !== 'custom')
    throw unsupported(
      `tools.${index}`,
      `the tool ${JSON.stringify(own)} is one of Anthropic's own (${type}), which this upstream does not have; omit it`,
    )
  const parameters = input_schema ?? { type: 'object', properties: {} }
  return { type: 'function', function: present({ name, description, parameters, strict }) }
}

function toChoice({ type, name }: Fields): unknown {
  switch (read.optionalText(type, 'tool_choice.type')) {
    case undefined:
      return undefined
    case 'any':
      return 'required'
    case 'auto':
    case 'none':
      return type
    case 'tool':
      return { type: 'function', function: { name: chatToolName(read.text(name, 'tool_choice.name')) } }
    default:
      throw wrongType('tool_choice.type', '"auto", "any", "tool" or "none"')
  }
}
