import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import type { Note } from '../convert/reported-changes.ts'
import { withoutThinking } from '../convert/without-reasoning.ts'
import { wording } from './error-wording.ts'
import { API_NAMES, type Mend } from './mend.ts'

/** Anthropic ("Tool names must be unique"), Gemini ("Duplicate function declaration found"). */
const DOUBLE = wording(/(?:tool|function)s?\b.*unique|duplicate.{0,3}(?:tool|function)/is)
/** OpenAI, vLLM and DeepSeek ("empty array", "is too short"), Bedrock. */
const EMPTY = wording(
  /empty array|minimum length 1|too short|at least (?:one|1)\b|length greater than or equal to 1|(?:tools|tool_calls).*(?:empty|must not be)|only allowed when.*tools|must be set when using/is,
)
/** Anthropic about thinking beside a call that it must make. */
const THINKING_OR_CHOICE = wording(/thinking.*tool_choice|tool_choice.*thinking/is)
/** Alibaba Cloud about the same, whose switch is another. */
const ENABLE_THINKING = wording(/tool_choice.*required or object.*thinking mode|enable_thinking/is)

const nameOf = (tool: Fields): unknown => tool.name ?? fieldsOrNone(tool.function ?? tool.custom).name

/** Offers each tool once: the first of a name. */
const uniqueTools: Mend = {
  name: 'unique_tools',
  apis: API_NAMES,
  isRefused: ({ message }) => DOUBLE.test(message),
  fields({ tools }, note) {
    const all = objectsOrNone(tools)
    const names = new Set<unknown>()
    const rest = all.filter((tool, index) => {
      const name = nameOf(tool)
      const isDouble = name !== undefined && names.has(name)
      names.add(name)
      if (isDouble) note(`tools.${index}`, 'dropped')
      return !isDouble
    })
    return rest.length === all.length ? {} : { tools: rest }
  },
}

/** Leaves lists of tools and calls out that are empty, and what is said about the choice among no tools. */
const noEmptyLists: Mend = {
  name: 'no_empty_lists',
  apis: ['chat', 'responses'],
  isRefused: ({ message }) => EMPTY.test(message),
  fields(body, note) {
    const { tools, messages } = body
    const isOffering = !Array.isArray(tools) || tools.length > 0
    const all = objectsOrNone(messages)
    const rest = all.map((message, index) => withoutEmptyCalls(message, `messages.${index}`, note))
    return {
      ...(!isOffering && withoutTools(body, note)),
      ...(rest.some((message, index) => message !== all[index]) && { messages: rest }),
    }
  },
}

function withoutTools({ tool_choice, parallel_tool_calls }: Fields, note: Note): Fields {
  note('tools', 'dropped')
  if (tool_choice !== undefined) note('tool_choice', 'dropped')
  if (parallel_tool_calls !== undefined) note('parallel_tool_calls', 'dropped')
  return { tools: undefined, tool_choice: undefined, parallel_tool_calls: undefined }
}

function withoutEmptyCalls(message: Fields, path: string, note: Note): Fields {
  const { tool_calls, ...rest } = message
  if (!Array.isArray(tool_calls) || tool_calls.length > 0) return message
  note(`${path}.tool_calls`, 'dropped')
  return rest
}

/** Tells whether the model must call a tool, or a certain one. */
const isForced = (choice: unknown): boolean =>
  choice === 'required' || (typeof choice === 'object' && !['auto', 'none'].includes(String(fieldsOrNone(choice).type)))

/** Turns thinking off in a request whose model must call a tool. */
const thinkingOff = (mend: Pick<Mend, 'name' | 'isRefused'>, off: Fields): Mend => ({
  ...mend,
  apis: ['chat'],
  fields({ tool_choice, reasoning_effort }, note) {
    if ((tool_choice ?? null) === null || !isForced(tool_choice)) return {}
    for (const name of Object.keys(off)) note(name, 'added')
    if (reasoning_effort === undefined) return off
    note('reasoning_effort', 'dropped')
    return { ...off, reasoning_effort: undefined }
  },
})

/** The same for Messages. */
const noThinkingOrChoice: Mend = {
  name: 'no_thinking_with_choice',
  apis: ['messages'],
  isRefused: ({ message }) => THINKING_OR_CHOICE.test(message),
  fields(body, note) {
    const { tool_choice, thinking } = body
    if ((tool_choice ?? null) === null || (thinking ?? null) === null || !isForced(tool_choice)) return {}
    const rest = withoutThinking(body, note)
    if (rest !== body) return { thinking: undefined, context_management: undefined }
    note('thinking', 'dropped')
    return { thinking: undefined }
  },
}

/** Mends of the tools that are offered, and of the choice among them. */
export const OFFERED_TOOLS: readonly Mend[] = [
  uniqueTools,
  noEmptyLists,
  noThinkingOrChoice,
  thinkingOff(
    { name: 'enable_thinking_off', isRefused: ({ message }) => ENABLE_THINKING.test(message) },
    { enable_thinking: false },
  ),
  thinkingOff(
    {
      name: 'thinking_disabled',
      isRefused: ({ message }) => THINKING_OR_CHOICE.test(message) && !ENABLE_THINKING.test(message),
    },
    { thinking: { type: 'disabled' } },
  ),
]
