import { randomBytes } from 'node:crypto'
import type {
  ResponseCustomToolCall,
  ResponseFunctionToolCall,
  ResponseOutputMessage,
  ResponseOutputRefusal,
  ResponseOutputText,
  ResponseReasoningItem,
} from 'openai/resources/responses/responses'
import { isObject, parseJson } from '../../text/json.ts'
import type { OWN_RESPONSE } from '../api/own-response.ts'
import type { CalledTool } from './callable-tools.ts'
import type { Citation, Logprob } from './chat-answer.ts'
import { fromCustomCall } from './custom-tools.ts'
import { begunCallFields, ownCallFields } from './own-tools.ts'

/** Progress of an item. `incomplete` when the model was cut off while writing it. */
export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

/** Text of a message, with the two lists that clients read even when empty. */
export type TextPart = ResponseOutputText & { logprobs: Logprob[]; annotations: Citation[] }

/** A call of a function, or of one of the request's custom tools. */
export type CallItem =
  | (ResponseFunctionToolCall & { id: string; status: ItemStatus })
  | (ResponseCustomToolCall & { id: string; status: ItemStatus })

/** An output item that a chat completion can produce. */
export type OutputItem = ResponseOutputMessage | ResponseReasoningItem | CallItem

/** A tool call in chat completions. */
export interface ToolCall {
  callId: string
  name: string
  /** JSON that the model has written so far. */
  arguments: string
}

/** Bytes of the ids of calls: chat completions takes ids of up to 40 characters. */
const CALL_ID_BYTES = 16

/** Creates an id in the provider's format, for objects that the provider did not create. */
export function itemId(prefix: typeof OWN_RESPONSE | 'msg' | 'rs' | 'fc' | 'ctc' | 'call'): string {
  return `${prefix}_${randomBytes(prefix === 'call' ? CALL_ID_BYTES : 24).toString('hex')}`
}

/** Text of the model, as an output item. */
export function messageItem(
  id: string,
  status: ItemStatus,
  content: ResponseOutputMessage['content'],
): ResponseOutputMessage {
  return { type: 'message', id, status, role: 'assistant', content }
}

/** Text part of a message. Citations and log probabilities may be added later while it streams. */
export function textPart(text: string, annotations: Citation[] = [], logprobs: Logprob[] = []): TextPart {
  return { type: 'output_text', text, annotations, logprobs }
}

/** Refusal part of a message: the model's reason for not answering. */
export function refusalPart(refusal: string): ResponseOutputRefusal {
  return { type: 'refusal', refusal }
}

/**
 * Reasoning as the summary of a reasoning item, the only place where every client looks for it.
 *
 * @param sealed its sealed state, which clients bring back. Empty when it has none
 */
export function reasoningItem(id: string, status: ItemStatus, text: string, sealed = ''): ResponseReasoningItem {
  const summary = text === '' ? [] : [{ type: 'summary_text' as const, text }]
  return { type: 'reasoning', id, status, summary, ...(sealed !== '' && { encrypted_content: sealed }) }
}

/** A call of a tool of the API's own. One whose arguments cannot be read is incomplete, so that no client runs it. */
function ownItem(
  id: string,
  status: ItemStatus,
  { callId: call_id, arguments: args }: ToolCall,
  own: string,
): CallItem {
  const head = { type: `${own}_call`, id, call_id }
  const written = parseJson(args)
  const fields = status === 'in_progress' ? null : ownCallFields(own, isObject(written) ? written : null)
  const item =
    fields === null
      ? { ...head, status: status === 'completed' ? 'incomplete' : status, ...begunCallFields(own) }
      : { ...head, status, ...fields }
  return item as unknown as CallItem
}

/** A call of a function or custom tool, by its name in the request. */
export function callItem(id: string, status: ItemStatus, call: ToolCall, tool: CalledTool): CallItem {
  const { callId: call_id, arguments: args } = call
  const { name, namespace, isCustom, own } = tool
  if (own !== undefined) return ownItem(id, status, call, own)
  const named = { name, ...(namespace !== undefined && { namespace }) }
  if (isCustom)
    return { type: 'custom_tool_call', id, status, call_id, ...named, input: args === '' ? '' : fromCustomCall(args) }
  return { type: 'function_call', id, status, call_id, ...named, arguments: args }
}
