import { isObject } from '../../text/json.ts'
import { present } from '../../text/present.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { CHAT_LIMIT, limitsAt } from '../api/answer-limit.ts'
import type { ChatRequest, MessagesRequest } from '../api/requests.ts'
import { isFileUrl, plainDataUrl, textOfFile } from '../dialect/media.ts'
import { asUserText } from '../dialect/system-messages.ts'
import { objectText } from '../dialect/tool-pairs.ts'
import { markIn, withMark } from './anthropic-cache-marks.ts'
import { headOf, instructionsOf, isSystem, textOf } from './chat-instructions.ts'
import { thinkingFor } from './effort.ts'
import { messagesTools } from './messages-tools.ts'
import { type Note, noteUnread, UNNOTED } from './reported-changes.ts'
import { read, readContent, unsupported, wrongType } from './request-reader.ts'

/** `max_tokens` of a model whose limits are unknown. Messages requires one, and every current model accepts this value. */
const DEFAULT_LIMIT = 8192
/** Highest temperature of Messages. Chat completions allows twice as much. */
const HIGHEST_TEMPERATURE = 1
/** Fields of Messages that chat clients may send as well. */
const OWN = ['top_k', 'thinking', 'cache_control'] as const
const DATA_URL = /^data:([^;,]*);base64,(.*)$/s

/** Fields that change the answer and have no counterpart in Messages. Rejected unless their value is harmless. */
const REFUSED: ReadonlyArray<readonly [name: string, harmless: (value: unknown) => boolean, why: string]> = [
  ['n', (value) => value === 1, 'Messages returns one answer; send one request per answer'],
  ['logprobs', (value) => value === false, 'Messages returns no log probabilities'],
  ['logit_bias', (value) => isObject(value) && Object.keys(value).length === 0, 'Messages has no token bias'],
  ['audio', () => false, 'Messages returns text only'],
  ['modalities', (value) => Array.isArray(value) && value.every((one) => one === 'text'), 'Messages returns text only'],
  ['web_search_options', () => false, 'Messages searches only with its own web search tool'],
  ['functions', (value) => Array.isArray(value) && value.length === 0, 'use tools'],
]

/** Fields that are converted, refused, or say how the answer is delivered. */
const READ: ReadonlySet<string> = new Set([
  ...['model', 'stream', 'stream_options', 'messages', 'temperature', 'top_p', 'stop', 'user', 'safety_identifier'],
  ...['response_format', 'tools', 'tool_choice', 'parallel_tool_calls', 'reasoning_effort'],
  ...limitsAt('/chat/completions'),
  ...OWN,
  ...REFUSED.map(([name]) => name),
])

/** Parts of an earlier answer that have no counterpart in Messages. */
const UNREADABLE: ReadonlyArray<readonly [name: string, why: string]> = [
  ['function_call', 'use tool_calls'],
  ['audio', 'Messages cannot refer to the recordings of another provider'],
]

/**
 * Converts a chat request to the equivalent Messages request. System messages at the beginning become the system prompt;
 * later ones become user text marked as such, where they stand, so that the prompt begins with the same text in the next
 * request. Consecutive turns of one role are merged. `thinking_blocks` become the blocks that they were, and the
 * reasoning effort becomes thinking where the model takes it. Marks for the cache
 * stay at the ends of messages. Fields about storage and routing are dropped.
 *
 * @param model id at the upstream: models think in different ways
 * @param note notes what was dropped, or lowered
 * @param longest limit of an answer whose client sets none
 * @throws GazewayError `invalid_request` naming what Messages cannot express, and why
 */
export function toMessagesFromChat(
  request: ChatRequest,
  note: Note = UNNOTED,
  longest = DEFAULT_LIMIT,
  model = '',
): MessagesRequest {
  const given = request as unknown as Fields
  noteUnread(given, READ, note)
  for (const [name, isHarmless, why] of REFUSED) {
    const value = given[name] ?? null
    if (value !== null && !isHarmless(value)) throw unsupported(name, why)
  }
  const { stop, temperature } = given
  const messages = read.objects(given.messages, 'messages')
  const format = read.fields(given.response_format, 'response_format')
  if (typeof temperature === 'number' && temperature > HIGHEST_TEMPERATURE) note('temperature', 'lowered')
  // Exactly the names that count as the limit elsewhere: the reservation for the answer relies on them.
  const [limit, ...others] = limitsAt('/chat/completions').filter((name) => (given[name] ?? null) !== null)
  for (const name of others) if (given[name] !== given[limit as string]) note(name, 'dropped')
  const converted: Fields = {
    [CHAT_LIMIT]: limit === undefined ? longest : given[limit],
    system: instructionsOf(messages, format, note),
    messages: toTurns(messages, note),
    temperature: typeof temperature === 'number' ? Math.min(temperature, HIGHEST_TEMPERATURE) : temperature,
    top_p: given.top_p,
    stop_sequences: typeof stop === 'string' ? [stop] : stop,
    metadata: userOf(given, note),
    output_config: outputConfig(format),
    ...messagesTools(given),
    ...Object.fromEntries(OWN.map((name) => [name, given[name]])),
  }
  return withThinking(present(converted), given, { note, model }) as unknown as MessagesRequest
}

/** Has the model think as much as the effort of a request says, unless the request says more itself. */
function withThinking(
  converted: Fields,
  { reasoning_effort, thinking }: Fields,
  { note, model }: { note: Note; model: string },
): Fields {
  const effort = read.optionalText(reasoning_effort, 'reasoning_effort') ?? 'none'
  if (effort === 'none') return converted
  const thoughts = (thinking ?? null) === null ? thinkingFor(effort, model, converted) : {}
  if (Object.keys(thoughts).length === 0) note('reasoning_effort', 'dropped')
  return { ...converted, ...thoughts }
}

/** Merges messages into alternating turns. Tool results come first in a turn. */
function toTurns(messages: readonly Fields[], note: Note): Fields[] {
  const turns: { role: string; content: Fields[] }[] = []
  const head = headOf(messages)
  for (const [index, message] of messages.entries()) {
    if (index < head) continue
    const path = `messages.${index}`
    if (isSystem(message)) note(path, 'rewritten')
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const mark = present({ cache_control: message.cache_control })
    const blocks = withMark(toBlocks(message, path), mark) as Fields[]
    const last = turns.at(-1)
    if (blocks.length === 0) continue
    if (last?.role !== role) turns.push({ role, content: blocks })
    // One by one: a hostile message has more blocks than a call takes arguments.
    else for (const block of blocks) last.content.push(block)
  }
  return turns.map(({ role, content }) => ({ role, content: compact(resultsFirst(content)) }))
}

const resultsFirst = (blocks: Fields[]): Fields[] => [
  ...blocks.filter(({ type }) => type === 'tool_result'),
  ...blocks.filter(({ type }) => type !== 'tool_result'),
]

/** A single text block becomes a plain string. */
const compact = (blocks: Fields[]): unknown => {
  const [only, ...others] = blocks
  return only?.type === 'text' && others.length === 0 && only.cache_control === undefined ? only.text : blocks
}

function toBlocks(message: Fields, path: string): Fields[] {
  const { role, content, refusal, tool_calls: calls } = message
  switch (read.text(role, `${path}.role`)) {
    case 'user':
      return toContent(content, `${path}.content`)
    case 'system':
    case 'developer':
      return [{ type: 'text', text: asUserText(textOf(content, `${path}.content`)), ...markIn(content) }]
    case 'tool':
      return [toResult(message, path)]
    case 'assistant': {
      for (const [name, why] of UNREADABLE)
        if ((message[name] ?? null) !== null) throw unsupported(`${path}.${name}`, why)
      const said = textOf(content, `${path}.content`, '')
      const text = said + (read.optionalText(refusal, `${path}.refusal`) ?? '')
      const uses = read
        .objects(calls, `${path}.tool_calls`)
        .map((call, index) => toUse(call, `${path}.tool_calls.${index}`))
      const thoughts = read.objects(message.thinking_blocks, `${path}.thinking_blocks`)
      return withMark(
        [...thoughts, ...(text === '' ? [] : [{ type: 'text', text }]), ...uses],
        markIn(content),
      ) as Fields[]
    }
    default:
      throw unsupported(`${path}.role`, `Messages has no role ${JSON.stringify(role)}`)
  }
}

function toContent(content: unknown, path: string): Fields[] {
  const parts = readContent(content, path)
  if (typeof parts === 'string') return parts === '' ? [] : [{ type: 'text', text: parts }]
  return parts.map((part, index) => toBlock(part, `${path}.${index}`))
}

function toBlock(part: Fields, path: string): Fields {
  const { text, image_url, file } = part
  const type = read.text(part.type, `${path}.type`)
  const cache = present({ cache_control: part.cache_control })
  if (type === 'text') return { type, text: read.text(text, `${path}.text`), ...cache }
  if (type === 'image_url') return { type: 'image', source: sourceOf(urlOf(image_url, `${path}.image_url`)), ...cache }
  if (type === 'file') return { ...toDocument(read.object(file, `${path}.file`), `${path}.file`), ...cache }
  throw unsupported(`${path}.type`, `Messages has no counterpart of the part type ${type}`)
}

/** URL of an image. Some servers accept it without the object around it. */
function urlOf(image: unknown, path: string): string {
  if (typeof image === 'string') return image
  if (!isObject(image)) throw wrongType(path, 'an object with url')
  return read.text(image.url, `${path}.url`)
}

function sourceOf(url: string): Fields {
  const [, media_type, data] = DATA_URL.exec(plainDataUrl(url)) ?? []
  return data === undefined ? { type: 'url', url } : { type: 'base64', media_type, data }
}

function toDocument({ file_data, filename }: Fields, path: string): Fields {
  const data = read.optionalText(file_data, `${path}.file_data`) ?? ''
  const text = textOfFile(data)
  const source = text === null ? sourceOf(data) : { type: 'text', media_type: 'text/plain', data: text }
  if (source.type === 'url' && !isFileUrl(data))
    throw unsupported(path, 'Messages takes files as data or by URL (file_data), not by the id of another provider')
  return { type: 'document', source, ...present({ title: filename }) }
}

function toResult({ tool_call_id, content }: Fields, path: string): Fields {
  const result = typeof content === 'string' ? content : toContent(content, `${path}.content`)
  return { type: 'tool_result', tool_use_id: toolId(tool_call_id, `${path}.tool_call_id`), content: result }
}

function toUse({ id, type, function: called, custom }: Fields, path: string): Fields {
  const kind = read.optionalText(type, `${path}.type`) ?? 'function'
  if (kind === 'custom') {
    const { name, input } = read.object(custom, `${path}.custom`)
    const use = toolId(id, `${path}.id`)
    const named = read.text(name, `${path}.custom.name`)
    return { type: 'tool_use', id: use, name: named, input: { input: read.text(input, `${path}.custom.input`) } }
  }
  if (kind !== 'function') throw unsupported(`${path}.type`, `Messages has no tool type ${kind}`)
  const { name, arguments: args } = read.object(called, `${path}.function`)
  return {
    type: 'tool_use',
    id: toolId(id, `${path}.id`),
    name: read.text(name, `${path}.function.name`),
    input: toInput(args, `${path}.function.arguments`),
  }
}

/** Input of a call, see {@link objectText}. Some clients send it without serializing it. */
function toInput(args: unknown, path: string): Fields {
  if (typeof args !== 'string') return read.fields(args, path)
  return JSON.parse(objectText(args))
}

/** Call ids in Messages contain only letters, digits, `_` and `-`. */
const toolId = (id: unknown, path: string): string => read.text(id, path).replace(/[^\w-]/g, '_')

function userOf({ user, safety_identifier }: Fields, note: Note): Fields | undefined {
  const named = read.optionalText(user, 'user')
  const identified = read.optionalText(safety_identifier, 'safety_identifier')
  if (named !== undefined && identified !== undefined && identified !== named) note('safety_identifier', 'dropped')
  const known = named ?? identified
  return known === undefined ? undefined : { user_id: known }
}

function outputConfig({ type, json_schema }: Fields): Fields | undefined {
  const form = read.optionalText(type, 'response_format.type') ?? 'text'
  if (form === 'text' || form === 'json_object') return undefined
  if (form !== 'json_schema') throw unsupported('response_format', `Messages does not support ${form}; use json_schema`)
  const { schema } = read.object(json_schema, 'response_format.json_schema')
  return { format: { type: 'json_schema', schema } }
}
