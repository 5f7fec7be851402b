import type OpenAI from 'openai'
import { asText, type Loose, present, record, records } from '../../text/loose.ts'
import type { ResponseRequest } from '../api/requests.ts'
import { type CallableTool, isCallable, isNamespace } from './callable-tools.ts'

type ChatTool = OpenAI.Chat.ChatCompletionFunctionTool
type ChatToolChoice = OpenAI.Chat.ChatCompletionToolChoiceOption
type ResponseTool = OpenAI.Responses.Tool
type ResponseToolChoice = OpenAI.Responses.Response['tool_choice']

/** Tool fields of a chat request. Both are absent when no tool is left. */
export interface ChatTools {
  tools?: ChatTool[]
  tool_choice?: ChatToolChoice | undefined
  parallel_tool_calls?: boolean | null | undefined
}

/**
 * Converts the tools of a Responses request to chat tools:
 * - A custom tool becomes a function with one string parameter, since few upstreams support custom tools in chat;
 *   `fromCustomCall` converts its calls back.
 * - A namespace becomes its tools; its description is dropped.
 * - `allowed_tools` is applied by offering only those.
 * - Built-in tools are dropped.
 *
 * @param tools callable tools of the request
 * @param refused field that the upstream has just rejected, such as `tools[1].parameters`; its tool is dropped
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

/** Callable tools of a request as a Response echoes them, with every key. */
export function echoedTools(request: ResponseRequest): ResponseTool[] {
  const echoed = records(request.tools).flatMap((tool) => {
    if (!isNamespace(tool)) return echoedTool(tool)
    const own = records(tool.tools).flatMap(echoedTool)
    return own.length === 0 ? [] : [{ ...tool, tools: own }]
  })
  return echoed as unknown as ResponseTool[]
}

/** Tool choice of a request as a Response echoes it; `auto` when it named a built-in tool. */
export function echoedToolChoice({ tool_choice: choice }: ResponseRequest): ResponseToolChoice {
  if (isMode(choice)) return choice
  const { type } = record(choice)
  const known = type === 'function' || type === 'custom' || type === 'allowed_tools'
  return known ? (choice as ResponseToolChoice) : 'auto'
}

/** Wraps the input of a custom tool as arguments of its function. */
export function toCustomCall(input: unknown): string {
  return JSON.stringify({ input: typeof input === 'string' ? input : '' })
}

/**
 * Reads the input of a custom tool from the arguments of its function. Truncated arguments are returned as they are.
 */
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

/** A tool as a Response echoes it. Functions get every key that Open Responses requires. */
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

/**
 * Finds the tools of a choice. A namespace selects all of its tools; a name without namespace may belong to a tool in
 * any.
 */
function toolsNamed({ type, name, namespace }: Loose, tools: readonly CallableTool[]): readonly CallableTool[] {
  if (typeof name !== 'string') return []
  if (type === 'namespace') return tools.filter((tool) => tool.namespace === name)
  const alike = tools.filter((tool) => tool.name === name)
  const exact = alike.filter((tool) => tool.namespace === (namespace ?? undefined))
  return exact.length > 0 || namespace ? exact : alike
}
