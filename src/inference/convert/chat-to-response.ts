import type OpenAI from 'openai'
import { readUsage } from '../../providers/token-usage.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { incompleteReason } from '../api/finish-reason.ts'
import { OWN_RESPONSE } from '../api/own-response.ts'
import type { ChatCompletion, ResponseRequest } from '../api/requests.ts'
import { read } from './answer-reader.ts'
import { callableTools, type FindTool } from './callable-tools.ts'
import { createStreamedOutput } from './converted-output.ts'
import { read as readRequest } from './request-reader.ts'
import { itemId, type OutputItem } from './response-items.ts'
import { echoedToolChoice, echoedTools } from './response-tools.ts'
import { type SealState, UNSEALED } from './thinking-blocks.ts'

/** Reply of the responses endpoint, by OpenAI's reference. */
export type ResponseObject = OpenAI.Responses.Response

/** State of an answer that has ended. */
export interface Ending {
  model: string | undefined
  finishReason: string | null | undefined
  usage: OpenAI.CompletionUsage | null | undefined
  serviceTier: string | null | undefined
  output: OutputItem[]
}

/**
 * Converts a chat completion to the Response of the same request: reasoning, text, refusal, tool calls, usage, and
 * `incomplete` when it was truncated. Every key that Open Responses requires is present, null without a value
 * (https://www.openresponses.org/reference, ResponseResource).
 *
 * @param completion one that did not fail (`reportedIn`)
 * @param options.seal seals the reasoning state, for the client to bring back
 */
export function toResponse(
  completion: ChatCompletion,
  request: ResponseRequest,
  { id = itemId(OWN_RESPONSE), seal = UNSEALED }: { id?: string; seal?: SealState } = {},
): ResponseObject {
  const choice = read.fields(read.list(completion.choices, 'choices')[0], 'choices.0')
  const createdAt = completion.created ?? Math.floor(Date.now() / 1000)
  return endResponse(responseShell(request, { id, model: completion.model, createdAt }), {
    model: completion.model,
    finishReason: read.optionalText(choice.finish_reason, 'choices.0.finish_reason'),
    usage: completion.usage,
    serviceTier: completion.service_tier,
    output: toOutput(choice, callableTools(request).called, seal),
  })
}

/** A Response without output: the echoed request fields, with defaults for those omitted. */
export function responseShell(
  request: ResponseRequest,
  { id, model, createdAt }: { id: string; model: string; createdAt: number },
): ResponseObject {
  const given = request as unknown as Fields
  const text = readRequest.fields(request.text, 'text')
  const shell = {
    id,
    object: 'response',
    created_at: createdAt,
    completed_at: null,
    status: 'in_progress',
    background: false,
    error: null,
    frequency_penalty: given.frequency_penalty ?? 0,
    incomplete_details: null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: given.max_tool_calls ?? null,
    metadata: request.metadata ?? {},
    model,
    output: [],
    output_text: '',
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    presence_penalty: given.presence_penalty ?? 0,
    previous_response_id: request.previous_response_id ?? null,
    prompt_cache_key: request.prompt_cache_key ?? null,
    reasoning: { effort: request.reasoning?.effort ?? null, summary: null },
    safety_identifier: request.safety_identifier ?? null,
    service_tier: 'default',
    // Nothing is stored, so it cannot be retrieved by id.
    store: false,
    temperature: request.temperature ?? 1,
    text: { ...text, format: textFormat(readRequest.fields(text.format, 'text.format')) },
    tool_choice: echoedToolChoice(request),
    tools: echoedTools(request),
    top_logprobs: request.top_logprobs ?? 0,
    top_p: request.top_p ?? 1,
    truncation: request.truncation ?? 'disabled',
    usage: null,
    user: request.user ?? null,
  }
  return shell as unknown as ResponseObject
}

/** Completes `shell` with an answer that has ended. */
export function endResponse(shell: ResponseObject, ending: Ending): ResponseObject {
  const reason = incompleteReason(ending.finishReason)
  const { output, model, serviceTier, usage } = ending
  return {
    ...shell,
    model: model || shell.model,
    status: reason ? 'incomplete' : 'completed',
    completed_at: reason ? null : Math.floor(Date.now() / 1000),
    incomplete_details: reason ? { reason } : null,
    service_tier: (serviceTier as ResponseObject['service_tier']) ?? 'default',
    output,
    output_text: outputText(output),
    // The client's types do not allow null here; on the wire it means that there is no usage.
    usage: toResponseUsage(usage ?? undefined) as OpenAI.Responses.ResponseUsage,
  }
}

/** Converts chat usage to that of a Response, with the counts that are recorded. Null when none was reported. */
export function toResponseUsage(reported: OpenAI.CompletionUsage | undefined): OpenAI.Responses.ResponseUsage | null {
  const usage = readUsage(reported)
  if (!reported || !usage) return null
  const { prompt_tokens_details: input, completion_tokens_details: output } = reported
  return {
    input_tokens: usage.prompt_tokens,
    input_tokens_details: {
      cached_tokens: input?.cached_tokens ?? 0,
      cache_write_tokens: input?.cache_write_tokens ?? 0,
    },
    output_tokens: usage.completion_tokens,
    output_tokens_details: { reasoning_tokens: output?.reasoning_tokens ?? 0 },
    total_tokens: usage.total_tokens,
  }
}

/** Text of an answer, over all its messages. */
export function outputText(output: readonly OutputItem[]): string {
  return output
    .flatMap((item) => (item.type === 'message' ? item.content : []))
    .map((part) => (part.type === 'output_text' ? part.text : ''))
    .join('')
}

function toOutput(choice: Fields, called: FindTool, seal: SealState): OutputItem[] {
  const output = createStreamedOutput(() => {}, { called, seal })
  output.read(choice, 'message')
  return output.close(incompleteReason(choice.finish_reason as string) !== null)
}

/** Text format with every key that a Response has. */
function textFormat(given: Fields): Fields {
  if (given.type !== 'json_schema') return given.type === undefined ? { type: 'text' } : given
  return { name: 'response', description: null, schema: null, strict: false, ...given }
}
