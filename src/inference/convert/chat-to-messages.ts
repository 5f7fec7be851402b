import { isObject, parseJson } from '../../text/json.ts'
import { asText, type Loose, present, record, records } from '../../text/loose.ts'
import { CHAT_LIMIT, limitsAt } from '../api/answer-limit.ts'
import type { ChatRequest, MessagesRequest } from '../api/requests.ts'
import { unsupported } from './unsupported.ts'

/** Default `max_tokens`. Messages requires one, and every current model accepts this value. */
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
  ['logit_bias', (value) => Object.keys(record(value)).length === 0, 'Messages has no token bias'],
  ['frequency_penalty', (value) => value === 0, 'Messages has no penalties'],
  ['presence_penalty', (value) => value === 0, 'Messages has no penalties'],
  ['audio', () => false, 'Messages returns text only'],
  ['modalities', (value) => Array.isArray(value) && value.every((one) => one === 'text'), 'Messages returns text only'],
  ['web_search_options', () => false, 'Messages searches only with its own web search tool'],
  ['functions', (value) => Array.isArray(value) && value.length === 0, 'use tools'],
]

/**
 * Converts a chat request to the equivalent Messages request. System messages become the system prompt, wherever they
 * stand, and consecutive turns of one role are merged. The reasoning effort is dropped, and so are fields about
 * storage, routing and caching.
 *
 * @throws GazewayError `invalid_request` naming what Messages cannot express, and why
 */
export function toMessagesFromChat(request: ChatRequest): MessagesRequest {
  const given: Loose = record(request)
  for (const [name, isHarmless, why] of REFUSED) {
    const value = given[name] ?? null
    if (value !== null && !isHarmless(value)) throw unsupported(name, why)
  }
  const { stop, temperature } = given
  // Exactly the names that count as the limit elsewhere: the reservation for the answer relies on them.
  const limits = limitsAt('/chat/completions').map((name) => given[name] ?? null)
  const messages: Loose = {
    [CHAT_LIMIT]: limits.find((limit) => limit !== null) ?? DEFAULT_LIMIT,
    system: systemOf(given.messages),
    messages: toTurns(given.messages),
    temperature: typeof temperature === 'number' ? Math.min(temperature, HIGHEST_TEMPERATURE) : temperature,
    top_p: given.top_p,
    stop_sequences: typeof stop === 'string' ? [stop] : stop,
    metadata: userOf(given),
    output_config: outputConfig(record(given.response_format)),
    ...toTools(given),
    ...Object.fromEntries(OWN.map((name) => [name, given[name]])),
  }
  return present(messages) as unknown as MessagesRequest
}

const isSystem = ({ role }: Loose): boolean => role === 'system' || role === 'developer'

function systemOf(messages: unknown): string | undefined {
  const texts = records(messages).flatMap((message, index) =>
    isSystem(message) ? [textOf(message.content, `messages.${index}.content`)] : [],
  )
  return texts.length === 0 ? undefined : texts.join('\n')
}

/** Merges messages into alternating turns. Tool results come first in a turn. */
function toTurns(messages: unknown): Loose[] {
  const turns: { role: string; content: Loose[] }[] = []
  for (const [index, message] of records(messages).entries()) {
    if (isSystem(message)) continue
    const path = `messages.${index}`
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const blocks = toBlocks(message, path)
    const last = turns.at(-1)
    if (blocks.length === 0) continue
    if (last?.role === role) last.content.push(...blocks)
    else turns.push({ role, content: blocks })
  }
  return turns.map(({ role, content }) => ({ role, content: compact(resultsFirst(content)) }))
}

const resultsFirst = (blocks: Loose[]): Loose[] => [
  ...blocks.filter(({ type }) => type === 'tool_result'),
  ...blocks.filter(({ type }) => type !== 'tool_result'),
]

/** A single text block becomes a plain string. */
const compact = (blocks: Loose[]): unknown => {
  const [only, ...others] = blocks
  return only?.type === 'text' && others.length === 0 && only.cache_control === undefined ? only.text : blocks
}

function toBlocks(message: Loose, path: string): Loose[] {
  const { role, content, refusal, tool_calls: calls } = message
  switch (role) {
    case 'user':
      return toContent(content, `${path}.content`)
    case 'tool':
      return [toResult(message, path)]
    case 'assistant': {
      const text = textOf(content, `${path}.content`, '') + asText(refusal)
      const uses = records(calls).map((call, index) => toUse(call, `${path}.tool_calls.${index}`))
      return [...(text === '' ? [] : [{ type: 'text', text }]), ...uses]
    }
    default:
      throw unsupported(`${path}.role`, `Messages has no role ${JSON.stringify(asText(role))}`)
  }
}

function toContent(content: unknown, path: string): Loose[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return records(content).map((part, index) => toBlock(part, `${path}.${index}`))
}

function toBlock(part: Loose, path: string): Loose {
  const { type, text, image_url, file } = part
  const cache = present({ cache_control: part.cache_control })
  if (type === 'text') return { type: 'text', text: asText(text), ...cache }
  if (type === 'image_url') return { type: 'image', source: sourceOf(asText(record(image_url).url)), ...cache }
  if (type === 'file') return { ...toDocument(record(file), `${path}.file`), ...cache }
  throw unsupported(`${path}.type`, `Messages has no counterpart of the part type ${asText(type)}`)
}

function sourceOf(url: string): Loose {
  const [, media_type, data] = DATA_URL.exec(url) ?? []
  return data === undefined ? { type: 'url', url } : { type: 'base64', media_type, data }
}

function toDocument({ file_data, filename }: Loose, path: string): Loose {
  const source = sourceOf(asText(file_data))
  if (source.type !== 'base64')
    throw unsupported(
      path,
      'Messages takes files only as data (file_data, a data URL), not by the id of another provider',
    )
  return { type: 'document', source, ...present({ title: filename }) }
}

/** Text of content that may contain nothing else. */
function textOf(content: unknown, path: string, between = '\n'): string {
  if (typeof content === 'string') return content
  return records(content)
    .map(({ type, text, refusal }, index) => {
      if (type === 'text' || type === 'refusal') return asText(text ?? refusal)
      throw unsupported(`${path}.${index}.type`, `Messages does not allow the part type ${asText(type)} here`)
    })
    .join(between)
}

function toResult({ tool_call_id, content }: Loose, path: string): Loose {
  const result = typeof content === 'string' ? content : toContent(content, `${path}.content`)
  return { type: 'tool_result', tool_use_id: toolId(tool_call_id), content: result }
}

function toUse({ id, type, function: called }: Loose, path: string): Loose {
  if ((type ?? 'function') !== 'function')
    throw unsupported(`${path}.type`, `Messages has no tool type ${asText(type)}`)
  const { name, arguments: args } = record(called)
  const written = asText(args)
  const input = written.trim() === '' ? {} : parseJson(written)
  if (!isObject(input)) throw unsupported(`${path}.function.arguments`, 'Messages requires a JSON object here')
  return { type: 'tool_use', id: toolId(id), name: asText(name), input }
}

/** Call ids in Messages contain only letters, digits, `_` and `-`. */
const toolId = (id: unknown): string => asText(id).replace(/[^\w-]/g, '_')

function userOf({ user, safety_identifier }: Loose): Loose | undefined {
  const id = user ?? safety_identifier
  return typeof id === 'string' ? { user_id: id } : undefined
}

function outputConfig({ type, json_schema }: Loose): Loose | undefined {
  if (type === 'json_object')
    throw unsupported('response_format', 'Messages does not support json_object; use json_schema')
  if (type !== 'json_schema') return undefined
  return { format: { type: 'json_schema', schema: record(json_schema).schema } }
}

function toTools({ tools: given, tool_choice: choice, parallel_tool_calls: parallel }: Loose): Loose {
  const tools = records(given).map(toTool)
  if (tools.length === 0) return {}
  const chosen = toChoice(choice)
  if (parallel !== false || chosen?.type === 'none') return { tools, tool_choice: chosen }
  return { tools, tool_choice: { type: 'auto', ...chosen, disable_parallel_tool_use: true } }
}

function toTool({ type, function: given, cache_control }: Loose, index: number): Loose {
  if (type !== 'function')
    throw unsupported(`tools.${index}.type`, `Messages has no tool type ${JSON.stringify(asText(type))}`)
  const { name, description, parameters, strict } = record(given)
  const input_schema = parameters ?? { type: 'object', properties: {} }
  return { name, input_schema, ...present({ description, strict, cache_control }) }
}

function toChoice(choice: unknown): Loose | undefined {
  if (choice === 'required') return { type: 'any' }
  if (choice === 'auto' || choice === 'none') return { type: choice }
  if ((choice ?? null) === null) return undefined
  const { type, function: called } = record(choice)
  if (type === 'function') return { type: 'tool', name: record(called).name }
  throw unsupported('tool_choice', `Messages has no tool choice of type ${JSON.stringify(asText(type))}`)
}
