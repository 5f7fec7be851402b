import { randomBytes } from 'node:crypto'
import type OpenAI from 'openai'
import type { ChatCompletion } from './chat.ts'
import type { ResponseRequest } from './responses-to-chat.ts'
import { readUsage } from './usage.ts'

export type ResponseObject = OpenAI.Responses.Response

/** The prefixes of the items that a Response holds. */
type ItemPrefix = 'resp' | 'msg' | 'fc'

/** An id in the provider's own form, for what the provider did not make. */
export const itemId = (prefix: ItemPrefix): string => `${prefix}_${randomBytes(24).toString('hex')}`

/**
 * A chat completion as the Response that the same request would have had: text, refusal, tool calls, usage, and
 * `incomplete` where it was cut. Every field of the Open Responses specification is there, null where it has no value.
 */
export function toResponse(completion: ChatCompletion, request: ResponseRequest, id = itemId('resp')): ResponseObject {
  const choice = completion.choices[0]
  const reason = incompleteReason(choice?.finish_reason)
  const status = reason ? 'incomplete' : 'completed'
  const response = {
    ...responseShell(request, { id, model: completion.model, createdAt: completion.created }),
    status,
    completed_at: reason ? null : Math.floor(Date.now() / 1000),
    incomplete_details: reason ? { reason } : null,
    output: choice ? toOutput(choice.message, status) : [],
    usage: toResponseUsage(completion.usage),
  }
  return { ...response, output_text: choice?.message.content ?? '' } as unknown as ResponseObject
}

/** A Response without output: what it echoes of the request, and the defaults of what the request left out. */
export function responseShell(
  request: ResponseRequest,
  { id, model, createdAt }: { id: string; model: string; createdAt: number },
): Record<string, unknown> {
  return {
    id,
    object: 'response',
    created_at: createdAt,
    completed_at: null,
    status: 'in_progress',
    background: false,
    error: null,
    frequency_penalty: 0,
    incomplete_details: null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: null,
    metadata: request.metadata ?? {},
    model,
    output: [],
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    presence_penalty: 0,
    previous_response_id: request.previous_response_id ?? null,
    prompt_cache_key: request.prompt_cache_key ?? null,
    reasoning: { effort: request.reasoning?.effort ?? null, summary: null },
    safety_identifier: request.safety_identifier ?? null,
    service_tier: 'default',
    store: false,
    temperature: request.temperature ?? 1,
    text: { format: request.text?.format ?? { type: 'text' } },
    tool_choice: request.tool_choice ?? 'auto',
    tools: request.tools ?? [],
    top_logprobs: request.top_logprobs ?? 0,
    top_p: request.top_p ?? 1,
    truncation: request.truncation ?? 'disabled',
    usage: null,
    user: request.user ?? null,
  }
}

/** Why a completion is not complete, in the Responses API's words; null when it is. */
export function incompleteReason(finish: string | null | undefined): 'max_output_tokens' | 'content_filter' | null {
  if (finish === 'length') return 'max_output_tokens'
  return finish === 'content_filter' ? 'content_filter' : null
}

/** Chat usage in the shape of a Response's. */
export function toResponseUsage(reported: OpenAI.CompletionUsage | undefined): OpenAI.Responses.ResponseUsage | null {
  const usage = readUsage(reported)
  if (!usage) return null
  return {
    input_tokens: usage.prompt_tokens,
    input_tokens_details: { cached_tokens: reported?.prompt_tokens_details?.cached_tokens ?? 0 },
    output_tokens: usage.completion_tokens,
    output_tokens_details: { reasoning_tokens: reported?.completion_tokens_details?.reasoning_tokens ?? 0 },
    total_tokens: usage.total_tokens,
  } as OpenAI.Responses.ResponseUsage
}

function toOutput(message: OpenAI.Chat.ChatCompletionMessage, status: 'completed' | 'incomplete'): unknown[] {
  const content = [
    ...(message.content ? [{ type: 'output_text', text: message.content, annotations: [], logprobs: [] }] : []),
    ...(message.refusal ? [{ type: 'refusal', refusal: message.refusal }] : []),
  ]
  const calls = (message.tool_calls ?? []).filter((call) => call.type === 'function')
  const said = content.length > 0 || calls.length === 0
  return [
    ...(said ? [{ type: 'message', id: itemId('msg'), status, role: 'assistant', content }] : []),
    ...calls.map((call) => ({
      type: 'function_call',
      id: itemId('fc'),
      call_id: call.id,
      name: call.function.name,
      arguments: call.function.arguments,
      status,
    })),
  ]
}
