import { randomBytes } from 'node:crypto'
import type {
  ResponseCustomToolCall,
  ResponseFunctionToolCall,
  ResponseOutputMessage,
  ResponseOutputRefusal,
  ResponseOutputText,
  ResponseReasoningItem,
} from 'openai/resources/responses/responses'
import type { CalledTool } from './callable-tools.ts'
import { asText, type Loose, record, records } from './loose.ts'
import { fromCustomCall } from './response-tools.ts'

/** How far an item is; `incomplete` where the model was cut while it wrote it. */
export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

/** Text in a message, with the two lists that clients read even where they are empty. */
export type TextPart = ResponseOutputText & { logprobs: Logprob[]; annotations: Citation[] }
/** How likely a token was, as a natural logarithm, and the tokens that were likely in its place. */
export type Logprob = ResponseOutputText.Logprob
/** A page that the model cites, and the part of its text (characters, from 0) that rests on it. */
export type Citation = ResponseOutputText.URLCitation

/** The call of a function, or of one of the request's custom tools. */
export type CallItem =
  | (ResponseFunctionToolCall & { id: string; status: ItemStatus })
  | (ResponseCustomToolCall & { id: string; status: ItemStatus })

/** An item of a Response's output that a chat completion can have. */
export type OutputItem = ResponseOutputMessage | ResponseReasoningItem | CallItem

/** A call of a tool as chat completions has it. */
export interface ToolCall {
  callId: string
  name: string
  /** JSON, as far as the model wrote it. */
  arguments: string
}

/** An id in the provider's own form, for what the provider did not make. */
export function itemId(prefix: 'resp' | 'msg' | 'rs' | 'fc' | 'ctc' | 'call'): string {
  return `${prefix}_${randomBytes(24).toString('hex')}`
}

/** What the model said, as an item of the output. */
export function messageItem(
  id: string,
  status: ItemStatus,
  content: ResponseOutputMessage['content'],
): ResponseOutputMessage {
  return { type: 'message', id, status, role: 'assistant', content }
}

/** A message's text. A part that is still being written takes its citations and log probabilities later. */
export function textPart(text: string, annotations: Citation[] = [], logprobs: Logprob[] = []): TextPart {
  return { type: 'output_text', text, annotations, logprobs }
}

/** A message's refusal: the model says why it does not answer. */
export function refusalPart(refusal: string): ResponseOutputRefusal {
  return { type: 'refusal', refusal }
}

/** What a model thought, as the summary of a reasoning item: the one place where every client looks for it. */
export function reasoningItem(id: string, status: ItemStatus, text: string): ResponseReasoningItem {
  return { type: 'reasoning', id, status, summary: text === '' ? [] : [{ type: 'summary_text', text }] }
}

/** The call of a function, or of one of the request's custom tools, by the name that the request has for it. */
export function callItem(id: string, status: ItemStatus, call: ToolCall, tool: CalledTool): CallItem {
  const { callId: call_id, arguments: args } = call
  const { name, namespace, isCustom } = tool
  const named = { name, ...(namespace !== undefined && { namespace }) }
  if (isCustom)
    return { type: 'custom_tool_call', id, status, call_id, ...named, input: args === '' ? '' : fromCustomCall(args) }
  return { type: 'function_call', id, status, call_id, ...named, arguments: args }
}

/**
 * Each item with its status. Only the last can be incomplete: the one that was being written when the model was cut.
 *
 * Source: https://www.openresponses.org/specification (Items are state machines)
 */
export function statusAt(index: number, count: number, cut: boolean): ItemStatus {
  return cut && index === count - 1 ? 'incomplete' : 'completed'
}

/** The text of a chat message or delta, which some upstreams send as parts. */
export function chatText(content: unknown): string {
  if (typeof content === 'string') return content
  return records(content)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('')
}

/**
 * The thoughts in a chat message or delta, under either of the names that upstreams give them, one of which may be there
 * without them; or among the parts of its content, as Mistral has them.
 */
export function chatReasoning(message: unknown): string {
  const { reasoning_content, reasoning, content } = record(message)
  const thoughts = records(content).map((part) => (part.type === 'thinking' ? chatText(part.thinking) : ''))
  return chatText(reasoning_content) || chatText(reasoning) || thoughts.join('')
}

/** The citations of a chat message or delta, in the shape that a Response has. */
export function chatCitations(annotations: unknown): Citation[] {
  return records(annotations).flatMap(({ type, url_citation }) => {
    const { url, title, start_index, end_index } = record(url_citation)
    if (type !== 'url_citation' || typeof url !== 'string') return []
    return [
      {
        type: 'url_citation',
        url,
        title: asText(title),
        start_index: typeof start_index === 'number' ? start_index : 0,
        end_index: typeof end_index === 'number' ? end_index : 0,
      },
    ]
  })
}

/** The log probabilities of a choice's text, with every key that a Response's have. */
export function chatLogprobs(logprobs: unknown): Logprob[] {
  return records(record(logprobs).content).map((entry) => ({
    ...logprob(entry),
    top_logprobs: records(entry.top_logprobs).map(logprob),
  }))
}

function logprob({ token, logprob: value, bytes }: Loose) {
  const logprob = typeof value === 'number' ? value : 0
  return { token: asText(token), logprob, bytes: Array.isArray(bytes) ? (bytes as number[]) : [] }
}
