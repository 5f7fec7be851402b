import type OpenAI from 'openai'
import type { ChatRequest } from './chat.ts'

export type ResponseRequest = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'model'> & { model?: string }

type Message = OpenAI.Chat.ChatCompletionMessageParam
type ToolCall = OpenAI.Chat.ChatCompletionMessageFunctionToolCall

/** A part or item of either API, read by its `type` alone: requests may hold kinds that this version does not know. */
type Loose = Record<string, unknown> & { type?: string }

/**
 * A Responses request as the chat completion that comes nearest, for the fallback. Search tools, stored conversations
 * and other things that only the responses endpoint has are left out.
 *
 * @param refused the field that the upstream has just refused, and that is therefore not sent again
 */
export function toChatRequest(request: ResponseRequest, refused: string | null = null): ChatRequest {
  const tools = functionTools(request.tools)
  const chat = {
    messages: toMessages(request),
    temperature: request.temperature,
    top_p: request.top_p,
    max_completion_tokens: request.max_output_tokens,
    reasoning_effort: request.reasoning?.effort,
    response_format: responseFormat(request.text?.format as Loose | undefined),
    ...(tools.length > 0
      ? { tools, tool_choice: toolChoice(request.tool_choice), parallel_tool_calls: request.parallel_tool_calls }
      : {}),
  }
  const refusedHere = refused && (RENAMED[refused] ?? refused)
  const sent = Object.entries(chat).filter(([name, value]) => value != null && name !== refusedHere)
  return Object.fromEntries(sent) as unknown as ChatRequest
}

/** Fields that the two APIs call differently. */
const RENAMED: Record<string, string> = {
  max_output_tokens: 'max_completion_tokens',
  reasoning: 'reasoning_effort',
  'reasoning.effort': 'reasoning_effort',
  text: 'response_format',
  'text.format': 'response_format',
}

function toMessages({ instructions, input }: ResponseRequest): Message[] {
  const messages: Message[] = instructions ? [{ role: 'system', content: instructions }] : []
  if (typeof input === 'string') return [...messages, { role: 'user', content: input }]
  for (const item of (input ?? []) as unknown as Loose[]) append(messages, item)
  return messages
}

function append(messages: Message[], item: Loose): void {
  const isMessage = item.type === undefined || item.type === 'message'
  if (item.type === 'function_call') appendToolCall(messages, item)
  else if (item.type === 'function_call_output')
    messages.push({ role: 'tool', tool_call_id: String(item.call_id), content: textOf(item.output) })
  else if (!isMessage) return
  else if (item.role === 'assistant') messages.push({ role: 'assistant', content: textOf(item.content) })
  else if (item.role === 'system' || item.role === 'developer')
    messages.push({ role: 'system', content: textOf(item.content) })
  else if (item.role === 'user') messages.push({ role: 'user', content: userContent(item.content) })
}

/** Calls that belong to one turn are one assistant message, as chat completions want it. */
function appendToolCall(messages: Message[], item: Loose): void {
  const call: ToolCall = {
    id: String(item.call_id),
    type: 'function',
    function: { name: String(item.name), arguments: String(item.arguments ?? '{}') },
  }
  const last = messages.at(-1)
  if (last?.role === 'assistant') last.tool_calls = [...(last.tool_calls ?? []), call]
  else messages.push({ role: 'assistant', content: null, tool_calls: [call] })
}

function userContent(content: unknown): string | OpenAI.Chat.ChatCompletionContentPart[] {
  if (typeof content === 'string' || !Array.isArray(content)) return String(content ?? '')
  const parts = content.flatMap((part: Loose) => userPart(part))
  return parts.every((part) => part.type === 'text') ? parts.map((part) => part.text).join('\n') : parts
}

function userPart(part: Loose): OpenAI.Chat.ChatCompletionContentPart[] {
  if (typeof part.text === 'string') return [{ type: 'text', text: part.text }]
  if (part.type === 'input_image' && typeof part.image_url === 'string') {
    const detail = part.detail as 'auto' | 'low' | 'high' | undefined
    return [{ type: 'image_url', image_url: { url: part.image_url, ...(detail ? { detail } : {}) } }]
  }
  if (part.type === 'input_file') {
    const { file_id, filename, file_data } = part as { file_id?: string; filename?: string; file_data?: string }
    const file = Object.entries({ file_id, filename, file_data }).filter(([, value]) => value !== undefined)
    return [{ type: 'file', file: Object.fromEntries(file) }]
  }
  return []
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((part: Loose) => part.text ?? part.refusal)
    .filter((text) => typeof text === 'string')
    .join('\n')
}

function functionTools(tools: ResponseRequest['tools']): OpenAI.Chat.ChatCompletionFunctionTool[] {
  return (tools ?? []).flatMap((tool) => {
    if (tool.type !== 'function') return []
    const { name, description, parameters, strict } = tool
    const fields = Object.entries({ name, description, parameters, strict }).filter(([, value]) => value != null)
    return [{ type: 'function', function: Object.fromEntries(fields) as unknown as OpenAI.FunctionDefinition }]
  })
}

function toolChoice(choice: ResponseRequest['tool_choice']): OpenAI.Chat.ChatCompletionToolChoiceOption | undefined {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice
  if (choice?.type === 'function') return { type: 'function', function: { name: choice.name } }
  return undefined
}

function responseFormat(format: Loose | undefined): unknown {
  if (format?.type !== 'json_schema') return format?.type === 'json_object' ? { type: 'json_object' } : undefined
  const { type, ...schema } = format
  return { type, json_schema: schema }
}
