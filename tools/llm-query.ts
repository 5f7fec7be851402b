import { Answer, Question } from '../src/research/research.ts'
import { plain } from '../src/text/single-line.ts'
import { defineTool } from './tool.ts'

export const llmQuery = defineTool({
  name: 'gateway_llm_query',
  title: 'Ask the research model',
  description:
    'Ask a second model that searches the web and X. Related files and memories of this project go to the ' +
    'provider unless include_context is false. Use it for current facts, a second opinion or hard reasoning; not for ' +
    'text transformations (gateway_chat_completion) or known facts (gateway_memory_search). Costs money; ' +
    'the answer names its cost and sources. Example: query "What changed in PostgreSQL 18 for logical replication?"',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  isLarge: true,
  input: Question,
  output: Answer,
  run: (gateway, input, context) => gateway.research.ask(input, context.roots, context, context.memoryOwner ?? null),
  render({
    answer,
    truncated,
    citations,
    model,
    route,
    cost_usd,
    conversation_id,
    call_id,
    context_used,
    context_tokens,
  }) {
    const sources = citations.map(({ url, title }, i) => plain(`[${i + 1}] ${title ?? url} ${url}`))
    const without = route === 'chat_fallback' ? ', without search: the research endpoint failed' : ''
    const goesOn = conversation_id === null ? '' : `, ${conversation_id}`
    const sent = context_used.map(({ name }) => plain(name)).join(', ')
    const along = sent === '' ? '' : `, context sent: ${sent}, ${context_tokens} tokens`
    const foot = `(${model}${without}, $${cost_usd}, ${call_id}${goesOn}${along})`
    const cut = truncated ? ['', '(cut off)'] : []
    return [answer, ...cut, ...(sources.length > 0 ? ['', 'Sources:', ...sources] : []), '', foot].join('\n')
  },
})
