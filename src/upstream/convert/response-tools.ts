import type OpenAI from 'openai'
import { asText, type Loose, present, record, records } from './loose.ts'
import type { ResponseRequest } from './responses-to-chat.ts'

type ChatTool = OpenAI.Chat.ChatCompletionFunctionTool
type ChatToolChoice = OpenAI.Chat.ChatCompletionToolChoiceOption
type ResponseTool = OpenAI.Responses.Tool
type ResponseToolChoice = OpenAI.Responses.Response['tool_choice']

/** The tool fields of a chat request; none of them where no tool is left. */
export interface ChatTools {
  tools?: ChatTool[]
  tool_choice?: ChatToolChoice | undefined
  parallel_tool_calls?: boolean | null | undefined
}

/**
 * The tools of a Responses request as chat completions knows them. A custom tool becomes a function with one string,
 * because few upstreams know custom tools in chat; `fromCustomCall` turns its calls back. `allowed_tools` is kept by
 * offering no others. Built-in tools are left out.
 *
 * @param refused index of a tool that the upstream has just refused
 */
export function toChatTools(request: ResponseRequest, refused: number | null = null): ChatTools {
  const choice = record(request.tool_choice)
  const allowed = choice.type === 'allowed_tools' ? namesOf(choice.tools) : null
  const offered = records(request.tools)
    .filter((tool, index) => isCallable(tool) && index !== refused)
    .filter((tool) => allowed?.has(tool.name as string) ?? true)
  if (offered.length === 0) return {}
  return {
    tools: offered.map((tool) => (tool.type === 'custom' ? fromCustomTool(tool) : fromFunctionTool(tool))),
    tool_choice: toChatChoice(request.tool_choice, namesOf(offered)),
    parallel_tool_calls: request.parallel_tool_calls,
  }
}

/** The tools of a request that the model could call in chat, as a Response names them: every key there. */
export function echoedTools(request: ResponseRequest): ResponseTool[] {
  return records(request.tools)
    .filter(isCallable)
    .map((tool) => ({
      ...(tool.type === 'function' ? { description: null, parameters: null, strict: null } : {}),
      ...tool,
    })) as unknown as ResponseTool[]
}

/** The request's choice of a tool, as a Response names it; `auto` where the choice was a built-in tool. */
export function echoedToolChoice({ tool_choice: choice }: ResponseRequest): ResponseToolChoice {
  if (isMode(choice)) return choice
  const { type } = record(choice)
  const known = type === 'function' || type === 'custom' || type === 'allowed_tools'
  return known ? (choice as ResponseToolChoice) : 'auto'
}

/** The names of the request's custom tools, whose calls take text and not JSON. */
export function customToolNames(request: ResponseRequest): ReadonlySet<string> {
  return namesOf(records(request.tools).filter((tool) => tool.type === 'custom'))
}

/** A custom tool's input as the arguments of the function that stands for it. */
export function toCustomCall(input: unknown): string {
  return JSON.stringify({ input: typeof input === 'string' ? input : '' })
}

/** A custom tool's input from the arguments of the function that stands for it; where they are cut, as they came. */
export function fromCustomCall(args: string): string {
  try {
    const { input } = record(JSON.parse(args))
    return typeof input === 'string' ? input : args
  } catch {
    return args
  }
}

const isCallable = ({ type, name }: Loose): boolean =>
  (type === 'function' || type === 'custom') && typeof name === 'string' && name !== ''

const isMode = (choice: unknown): choice is 'auto' | 'none' | 'required' =>
  choice === 'auto' || choice === 'none' || choice === 'required'

const namesOf = (tools: unknown): ReadonlySet<string> =>
  new Set(records(tools).flatMap(({ name }) => (typeof name === 'string' ? [name] : [])))

function fromFunctionTool({ name, description, parameters, strict }: Loose): ChatTool {
  return { type: 'function', function: present({ name, description, parameters, strict }) as never }
}

function fromCustomTool({ name, description, format }: Loose): ChatTool {
  const { type, syntax, definition } = record(format)
  const grammar = type === 'grammar' ? `The input follows this grammar (${asText(syntax)}):\n${asText(definition)}` : ''
  return {
    type: 'function',
    function: {
      name: name as string,
      description: [asText(description), grammar].filter(Boolean).join('\n\n'),
      parameters: {
        type: 'object',
        properties: { input: { type: 'string', description: 'The whole input of the tool, as plain text' } },
        required: ['input'],
        additionalProperties: false,
      },
    },
  }
}

function toChatChoice(choice: unknown, offered: ReadonlySet<string>): ChatToolChoice | undefined {
  if (isMode(choice)) return choice
  const { type, name, mode } = record(choice)
  if (type === 'allowed_tools') return isMode(mode) ? mode : undefined
  const named = (type === 'function' || type === 'custom') && typeof name === 'string' && offered.has(name)
  return named ? { type: 'function', function: { name } } : undefined
}
