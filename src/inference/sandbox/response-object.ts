import type {
  Response as OpenAIResponse,
  ResponseCustomToolCall,
  ResponseFunctionToolCall,
  ResponseFunctionWebSearch,
  ResponseOutputMessage,
  ResponseUsage,
} from 'openai/resources/responses/responses'
import { objectsOrNone } from '../../text/lenient-reader.ts'
import type { ResponseRequest as ConvertedRequest } from '../api/requests.ts'
import { responseShell } from '../convert/chat-to-response.ts'
import { wholeTool } from '../convert/response-tools.ts'
import { type Answer, idFrom } from './answer.ts'
import type { ResponseRequest } from './response-request.ts'
import type { Citation, Search } from './search-tools.ts'

/** An output item of the sandbox's responses. */
export type OutputItem =
  | ResponseFunctionWebSearch
  | (ResponseCustomToolCall & { id: string; status: 'in_progress' | 'completed' })
  | (ResponseFunctionToolCall & { id: string })
  | ResponseOutputMessage

/** A response object on the wire: every key is present, null without a value. */
export type WireResponse = Omit<
  OpenAIResponse,
  'output' | 'output_text' | 'usage' | 'user' | 'prompt_cache_options'
> & {
  output: OutputItem[]
  usage: ResponseUsage | null
  user: string | null
  store: boolean
  max_tool_calls: number | null
  system_fingerprint: 'sandbox'
}

/**
 * Builds the response object of an answer: the one that the fallback builds for the same request, with the sandbox's
 * additions, searches and stored responses.
 */
export function responseFrom(asked: ResponseRequest, answered: Answer, seed: string): WireResponse {
  const now = Math.floor(Date.now() / 1000)
  // Only the fields that the sandbox uses are validated; the others are echoed as received.
  const given = asked as Partial<WireResponse>
  const identity = { id: `resp_${idFrom(seed)}`, model: asked.model, createdAt: now }
  // The fields that the sandbox reads have the types of the API.
  const { output_text: _, ...shell } = responseShell(asked as ConvertedRequest, identity)
  const made = {
    ...shell,
    status: answered.cut ? 'incomplete' : 'completed',
    completed_at: answered.cut ? null : now,
    conversation: null,
    incomplete_details: answered.cut ? { reason: 'max_output_tokens' } : null,
    output: outputFrom(answered, seed),
    prompt: given.prompt ?? null,
    prompt_cache_retention: given.prompt_cache_retention ?? null,
    reasoning: given.reasoning ?? shell.reasoning,
    store: asked.store ?? true,
    tool_choice: given.tool_choice ?? 'auto',
    tools: objectsOrNone(asked.tools).map(wholeTool),
    usage: {
      input_tokens: answered.usage.input,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: answered.usage.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: answered.usage.input + answered.usage.output,
    },
    system_fingerprint: 'sandbox',
  }
  return made as unknown as WireResponse
}

function outputFrom({ text, call, searches, citations, cut }: Answer, seed: string): OutputItem[] {
  const status = cut ? 'incomplete' : 'completed'
  if (call) {
    const { id, name, arguments: args } = call
    return [{ type: 'function_call', id: `fc_${idFrom(seed, name)}`, call_id: id, name, arguments: args, status }]
  }
  return [
    ...searches.map((made) => searchItem(made, seed)),
    {
      type: 'message',
      id: `msg_${idFrom(seed)}`,
      role: 'assistant',
      status,
      content: [{ type: 'output_text', text, annotations: citations.map(annotation), logprobs: [] }],
    },
  ]
}

/** A search as xAI reports it: a separate item for the web, an answered custom tool call for X. */
function searchItem({ tool, query, results }: Search, seed: string): OutputItem {
  const id = idFrom(seed, tool)
  if (tool === 'web_search') {
    const sources = results.map(({ url }) => ({ type: 'url' as const, url }))
    return {
      type: 'web_search_call',
      id: `ws_${id}`,
      status: 'completed',
      action: { type: 'search', query, queries: [query], sources },
    }
  }
  const input = JSON.stringify({ query, limit: results.length, mode: 'Latest' })
  return {
    type: 'custom_tool_call',
    id: `ctc_${id}`,
    call_id: `xs_call_${id}`,
    name: 'x_keyword_search',
    input,
    status: 'completed',
  }
}

function annotation({ url, title, start, end }: Citation) {
  return { type: 'url_citation' as const, url, title, start_index: start, end_index: end }
}
