import { createHash } from 'node:crypto'
import type OpenAI from 'openai'
import { asText, type Loose, present, record, records } from '../../text/loose.ts'
import { CHAT_LIMIT } from '../api/answer-limit.ts'
import type { ChatRequest, MessagesRequest } from '../api/requests.ts'
import { exactJson } from './exact-json.ts'
import { blocksOf, compact, textOf, toPart, toParts } from './messages-content.ts'
import { chatToolName } from './tool-names.ts'
import { unsupported } from './unsupported.ts'

type ChatMessage = OpenAI.Chat.ChatCompletionMessageParam
type Part = OpenAI.Chat.ChatCompletionContentPart

/** Fields that change the answer and have no counterpart in chat completions. */
const REFUSED: Readonly<Record<string, string>> = {
  top_k: 'chat completions has no top_k; omit it, or use top_p',
  mcp_servers: 'chat completions calls no MCP servers; offer their tools in tools',
  container: 'chat completions runs no code in containers',
  inference_geo: 'this upstream cannot select a region; omit it',
}
/** Longest user id in chat completions. */
const LONGEST_USER = 64
/** Thinking blocks of an assistant turn. No other provider can read them. */
const THOUGHTS: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking'])

/**
 * Converts a Messages request to the equivalent chat request. Thinking blocks and thinking settings are dropped, and so
 * are fields that affect cost but not the question, such as `cache_control`.
 *
 * @throws GazewayError `invalid_request` naming what chat completions cannot express, and why
 */
export function toChatFromMessages(request: MessagesRequest): ChatRequest {
  const given: Loose = record(request)
  for (const [name, why] of Object.entries(REFUSED)) {
    const value = given[name] ?? null
    if (value !== null && !(Array.isArray(value) && value.length === 0)) throw unsupported(name, why)
  }
  const { stop_sequences: stop } = given
  const chat: Loose = {
    messages: toChatMessages(request),
    [CHAT_LIMIT]: given.max_tokens,
    temperature: given.temperature,
    top_p: given.top_p,
    stop: Array.isArray(stop) && stop.length === 0 ? undefined : stop,
    user: userOf(record(given.metadata).user_id),
    response_format: responseFormat(given),
    ...toChatTools(given),
  }
  return present(chat) as unknown as ChatRequest
}

function toChatMessages({ system, messages }: MessagesRequest): ChatMessage[] {
  const instructions = system === undefined || system === null ? '' : textOf(system, 'system', '\n')
  const turns = records(messages).flatMap((message, index) => toTurn(message, `messages.${index}.content`))
  return instructions === '' ? turns : [{ role: 'system', content: instructions }, ...turns]
}

function toTurn({ role, content }: Loose, path: string): ChatMessage[] {
  if (role === 'assistant') return toAssistant(blocksOf(content), path)
  if (role === 'system') return [{ role: 'system', content: textOf(content, path, '\n') }]
  return toUser(content, path)
}

/** Converts an assistant turn, its text and its calls, to one message. Empty when the turn contains thinking only. */
function toAssistant(blocks: Loose[], path: string): ChatMessage[] {
  let text = ''
  const calls: OpenAI.Chat.ChatCompletionMessageFunctionToolCall[] = []
  for (const [index, block] of blocks.entries()) {
    if (block.type === 'text') text += asText(block.text)
    else if (block.type === 'tool_use')
      calls.push({
        id: asText(block.id),
        type: 'function',
        function: { name: chatToolName(asText(block.name)), arguments: exactJson(block.input ?? {}) },
      })
    else if (!THOUGHTS.has(block.type))
      throw unsupported(
        `${path}.${index}.type`,
        `chat completions has no counterpart of the block type ${asText(block.type)} in an earlier answer`,
      )
  }
  if (calls.length > 0) return [{ role: 'assistant', content: text === '' ? null : text, tool_calls: calls }]
  return text === '' ? [] : [{ role: 'assistant', content: text }]
}

/**
 * Converts a user turn: the tool results first, a message each, since chat completions wants them right after their
 * calls; then the user's content.
 */
function toUser(content: unknown, path: string): ChatMessage[] {
  const results: ChatMessage[] = []
  const attached: Part[] = []
  const own: Part[] = []
  for (const [index, block] of blocksOf(content).entries()) {
    const at = `${path}.${index}`
    if (block.type !== 'tool_result') {
      own.push(...toPart(block, at))
      continue
    }
    const parts = toParts(block.content, `${at}.content`)
    const media = parts.filter((part) => part.type !== 'text')
    const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
    results.push({ role: 'tool', tool_call_id: asText(block.tool_use_id), content: resultText(block, text, media) })
    // Tool results contain only text in chat completions.
    attached.push(...media)
  }
  const parts = [...attached, ...own]
  return parts.length === 0 ? results : [...results, { role: 'user', content: compact(parts) }]
}

/** Text of a tool result. Errors are marked in the text, since chat completions has no field for them. */
function resultText({ is_error: isError }: Loose, text: string, media: readonly Part[]): string {
  const content = text === '' && media.length > 0 ? 'The result follows in the next message.' : text
  return isError === true && !/^error\b/i.test(content) ? `Error: ${content}` : content
}

/** User id for chat completions. A longer one is replaced by its hash, which is stable. */
function userOf(id: unknown): string | undefined {
  if (typeof id !== 'string' || id === '') return undefined
  return id.length <= LONGEST_USER ? id : createHash('sha256').update(id).digest('hex')
}

function responseFormat({ output_config, output_format }: Loose): Loose | undefined {
  const { type, schema } = record(record(output_config).format ?? output_format)
  if (type !== 'json_schema') return undefined
  return { type: 'json_schema', json_schema: { name: 'response', schema, strict: true } }
}

function toChatTools({ tools: given, tool_choice }: Loose): Loose {
  const tools = records(given).map(toTool)
  if (tools.length === 0) return {}
  const { type, name, disable_parallel_tool_use: alone } = record(tool_choice)
  return {
    tools,
    tool_choice: toChoice(type, name),
    parallel_tool_calls: alone === true ? false : undefined,
  }
}

function toTool({ type, name, description, input_schema, strict }: Loose, index: number): Loose {
  if ((type ?? 'custom') !== 'custom')
    throw unsupported(
      `tools.${index}`,
      `the tool ${JSON.stringify(asText(name))} is one of Anthropic's own (${asText(type)}), which this upstream does not have; omit it`,
    )
  const parameters = input_schema ?? { type: 'object', properties: {} }
  return { type: 'function', function: present({ name: chatToolName(asText(name)), description, parameters, strict }) }
}

function toChoice(type: unknown, name: unknown): unknown {
  if (type === 'any') return 'required'
  if (type === 'auto' || type === 'none') return type
  return type === 'tool' ? { type: 'function', function: { name: chatToolName(asText(name)) } } : undefined
}
