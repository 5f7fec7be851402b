import type OpenAI from 'openai'
import { type CallableTool, isCallable, isNamespace } from './callable-tools.ts'
import { asText, type Loose, present, record, records } from './loose.ts'
import type { ResponseRequest } from './requests.ts'

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
 * because few upstreams know custom tools in chat; `fromCustomCall` turns its calls back. A namespace becomes its tools,
 * and what it says of itself is left out. `allowed_tools` is kept by offering no others. Built-in tools are left out.
 *
 * @param tools those of the request
 * @param refused the field that the upstream has just refused, `tools[1].parameters`: its tool is left out
 */
export function toChatTools(
  request: ResponseRequest,
  tools: readonly CallableTool[],
  refused: string | null = null,
): ChatTools {
  const choice = record(request.tool_choice)
  const allowed = choice.type === 'allowed_tools' ? allowedTools(choice.tools, tools) : tools
  const fault = `${(refused ?? '').split(/[.[\]]+/).join('.')}.`
  const offered = allowed.filter(({ path }) => !fault.startsWith(`${path}.`))
  if (offered.length === 0) return {}
  return {
    tools: offered.map((tool) => (tool.isCustom ? fromCustomTool(tool) : fromFunctionTool(tool))),
    tool_choice: toChatChoice(request.tool_choice, offered),
    parallel_tool_calls: request.parallel_tool_calls,
  }
}

/** The tools of a request that the model could call in chat, as a Response names them: every key there. */
export function echoedTools(request: ResponseRequest): ResponseTool[] {
  const echoed = records(request.tools).flatMap((tool) => {
    if (!isNamespace(tool)) return echoedTool(tool)
    const own = records(tool.tools).flatMap(echoedTool)
    return own.length === 0 ? [] : [{ ...tool, tools: own }]
  })
  return echoed as unknown as ResponseTool[]
}

/** The request's choice of a tool, as a Response names it; `auto` where the choice was a built-in tool. */
export function echoedToolChoice({ tool_choice: choice }: ResponseRequest): ResponseToolChoice {
  if (isMode(choice)) return choice
  const { type } = record(choice)
  const known = type === 'function' || type === 'custom' || type === 'allowed_tools'
  return known ? (choice as ResponseToolChoice) : 'auto'
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

const isMode = (choice: unknown): choice is 'auto' | 'none' | 'required' =>
  choice === 'auto' || choice === 'none' || choice === 'required'

const echoedTool = (tool: Loose): Loose[] => (isCallable(tool) ? [wholeTool(tool)] : [])

/** A tool as a Response names it: a function with every key that Open Responses requires, any other as it was given. */
export const wholeTool = (tool: Loose): Loose =>
  tool.type === 'function' ? { description: null, parameters: null, strict: null, ...tool } : tool

function fromFunctionTool({ chatName: name, given }: CallableTool): ChatTool {
  const { description, parameters, strict } = given
  return { type: 'function', function: present({ name, description, parameters, strict }) as never }
}

function fromCustomTool({ chatName: name, given }: CallableTool): ChatTool {
  const { description, format } = given
  const { type, syntax, definition } = record(format)
  const grammar = type === 'grammar' ? `The input follows this grammar (${asText(syntax)}):\n${asText(definition)}` : ''
  return {
    type: 'function',
    function: {
      name,
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

function allowedTools(allowed: unknown, tools: readonly CallableTool[]): CallableTool[] {
  const named = new Set(records(allowed).flatMap((choice) => toolsNamed(choice, tools)))
  return tools.filter((tool) => named.has(tool))
}

function toChatChoice(choice: unknown, offered: readonly CallableTool[]): ChatToolChoice | undefined {
  if (isMode(choice)) return choice
  const { type, mode } = record(choice)
  if (type === 'allowed_tools') return isMode(mode) ? mode : undefined
  const [tool] = type === 'function' || type === 'custom' ? toolsNamed(record(choice), offered) : []
  return tool && { type: 'function', function: { name: tool.chatName } }
}

/** The tools that a choice means: a namespace means all that are in it, and a name alone may be that of one in any. */
function toolsNamed({ type, name, namespace }: Loose, tools: readonly CallableTool[]): readonly CallableTool[] {
  if (typeof name !== 'string') return []
  if (type === 'namespace') return tools.filter((tool) => tool.namespace === name)
  const alike = tools.filter((tool) => tool.name === name)
  const exact = alike.filter((tool) => tool.namespace === (namespace ?? undefined))
  return exact.length > 0 || namespace ? exact : alike
}
