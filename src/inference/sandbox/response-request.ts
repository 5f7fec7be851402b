import * as z from 'zod'
import { LIST_LIMIT } from '../../wire/validation.ts'
import type { Question } from './answer.ts'
import type { Turn } from './conversation.ts'
import { Content, contentText, SchemaObject } from './request.ts'
import type { SearchTool } from './search-tools.ts'
import type { ToolChoice } from './tool-choice.ts'

const Message = z.looseObject({
  type: z.literal('message').optional(),
  role: z.enum(['system', 'developer', 'user', 'assistant']),
  content: Content,
})

/** Items of earlier output that clients send back and that contain nothing to answer from. */
const Ignored = z.looseObject({
  type: z.enum(['reasoning', 'web_search_call', 'x_search_call', 'custom_tool_call', 'compaction']),
})

const Item = z.union([
  z.looseObject({ type: z.literal('function_call'), call_id: z.string(), name: z.string() }),
  z.looseObject({ type: z.literal('function_call_output'), call_id: z.string(), output: Content }),
  Ignored,
  Message,
])

const SEARCH_TOOLS = {
  web_search: 'web_search',
  web_search_2025_08_26: 'web_search',
  web_search_preview: 'web_search',
  web_search_preview_2025_03_11: 'web_search',
  x_search: 'x_search',
} as const satisfies Record<string, SearchTool>

const SearchToolType = z.literal([
  'web_search',
  'web_search_2025_08_26',
  'web_search_preview',
  'web_search_preview_2025_03_11',
  'x_search',
])

const Tool = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('function'),
    name: z.string().min(1),
    description: z.string().nullish(),
    parameters: SchemaObject.nullish(),
  }),
  z.looseObject({ type: SearchToolType }),
])

const FunctionName = z.looseObject({ type: z.literal('function'), name: z.string() })

/** A request for a response. Only the fields that the sandbox uses are listed; the others are echoed. */
export const ResponseRequest = z.looseObject({
  model: z.string().min(1),
  input: z.union([z.string(), z.array(Item).max(LIST_LIMIT).min(1)]),
  instructions: z.string().nullish(),
  previous_response_id: z.string().nullish(),
  stream: z.boolean().nullish(),
  store: z.boolean().nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  tools: z.array(Tool).max(LIST_LIMIT).nullish(),
  tool_choice: z
    .union([
      z.enum(['none', 'auto', 'required']),
      FunctionName,
      z.looseObject({ type: SearchToolType }),
      z.looseObject({
        type: z.literal('allowed_tools'),
        mode: z.enum(['auto', 'required']),
        tools: z.array(z.union([FunctionName, z.looseObject({ type: SearchToolType })])).max(LIST_LIMIT),
      }),
    ])
    .nullish(),
  text: z
    .looseObject({
      format: z
        .discriminatedUnion('type', [
          z.looseObject({ type: z.literal('text') }),
          z.looseObject({ type: z.literal('json_object') }),
          z.looseObject({ type: z.literal('json_schema'), schema: SchemaObject }),
        ])
        .nullish(),
    })
    .nullish(),
})

export type ResponseRequest = z.infer<typeof ResponseRequest>

/** Turns that the input of a request adds to its conversation. */
export function turnsFrom(input: ResponseRequest['input']): Turn[] {
  if (typeof input === 'string') return [{ role: 'user', text: input }]
  return input.flatMap((item): Turn[] => {
    if (isMessage(item))
      return [{ role: item.role === 'developer' ? 'system' : item.role, text: contentText(item.content) }]
    if (item.type === 'function_call') return [{ role: 'call', callId: item.call_id, tool: item.name }]
    if (item.type === 'function_call_output')
      return [{ role: 'result', callId: item.call_id, text: contentText(item.output) }]
    return []
  })
}

function isMessage(item: z.infer<typeof Item>): item is z.infer<typeof Message> {
  return item.type === undefined || item.type === 'message'
}

/** Builds the question of a request in the shared form. `turns` hold the conversation, including this request's own. */
export function questionFrom(asked: ResponseRequest, turns: Turn[], seed: string): Question {
  const tools = (asked.tools ?? []).flatMap((tool) =>
    tool.type === 'function'
      ? [{ name: tool.name, description: tool.description ?? '', parameters: tool.parameters ?? {} }]
      : [],
  )
  const searchTools = new Set(
    (asked.tools ?? []).flatMap((tool) => (tool.type === 'function' ? [] : [SEARCH_TOOLS[tool.type]])),
  )
  const { choice, searches } = choiceFrom(asked.tool_choice, searchTools)
  const requiredOfSearch = choice.mode === 'required' && tools.length === 0 && searches.length > 0
  return {
    turns: asked.instructions ? [{ role: 'system', text: asked.instructions }, ...turns] : turns,
    param: 'input',
    tools,
    choice: requiredOfSearch ? { mode: 'none', names: null } : choice,
    searchTools: searches,
    format: formatFrom(asked.text),
    stop: [],
    maxTokens: asked.max_output_tokens ?? undefined,
    seed,
  }
}

/** Callable functions and searches to run: all, unless the choice restricts them. */
function choiceFrom(
  choice: ResponseRequest['tool_choice'],
  offered: ReadonlySet<SearchTool>,
): { choice: ToolChoice; searches: SearchTool[] } {
  const only = (names: SearchTool[]) => [...offered].filter((name) => names.includes(name))
  if (!choice) return { choice: { mode: 'auto', names: null }, searches: [...offered] }
  if (typeof choice === 'string')
    return { choice: { mode: choice, names: null }, searches: choice === 'none' ? [] : [...offered] }
  if (choice.type === 'function') return { choice: { mode: 'required', names: [choice.name] }, searches: [] }
  if (choice.type !== 'allowed_tools')
    return { choice: { mode: 'none', names: null }, searches: only([SEARCH_TOOLS[choice.type]]) }
  const names = choice.tools.flatMap((tool) => (tool.type === 'function' ? [tool.name] : []))
  const searches = only(choice.tools.flatMap((tool) => (tool.type === 'function' ? [] : [SEARCH_TOOLS[tool.type]])))
  return { choice: { mode: names.length === 0 ? 'none' : choice.mode, names }, searches }
}

function formatFrom(text: ResponseRequest['text']): Question['format'] {
  const format = text?.format
  if (format?.type === 'json_schema') return { type: 'json_schema', schema: format.schema }
  return { type: format?.type ?? 'text' }
}
