import { Answer, Question } from '../src/research/research.ts'
import { plain } from '../src/text/plain.ts'
import { defineTool } from './tool.ts'

export const llmQuery = defineTool({
  name: 'gateway_llm_query',
  title: 'Ask the research model',
  description:
    'Ask a second, stronger model that searches the web and the social platform and is told what this project looks ' +
    'like, where its owner is working, and what memories of this project and general ones say about the question: they ' +
    'go along to the provider unless include_context is false. Use it for questions that need current facts, other opinions or deep ' +
    'reasoning: "is this library still maintained", "why would this migration deadlock". Not for plain text ' +
    'transformations (gateway_chat_completion) nor for what this machine already remembers (gateway_memory_search). ' +
    'It costs money; the answer names its cost and its sources. ' +
    'Example: query "What changed in PostgreSQL 18 for logical replication?", tools ["web_search"].',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  input: Question,
  output: Answer,
  run: (gateway, input, context) => gateway.research.ask(input, context.roots, context),
  render({ answer, truncated, citations, model, route, cost_usd, call_id }) {
    const sources = citations.map(({ url, title }, i) => plain(`[${i + 1}] ${title ?? url} ${url}`))
    const without = route === 'chat_fallback' ? ', without search: the research endpoint failed' : ''
    const foot = `(${model}${without}, $${cost_usd}, ${call_id})`
    const cut = truncated ? ['', '(cut off)'] : []
    return [answer, ...cut, ...(sources.length > 0 ? ['', 'Sources:', ...sources] : []), '', foot].join('\n')
  },
})
