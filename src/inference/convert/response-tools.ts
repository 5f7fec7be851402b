import type OpenAI from 'openai'
import { isObject } from '../../text/json.ts'
import { present } from '../../text/present.ts'
import type { Fields } from '../../text/typed-reader.ts'
import type { ResponseRequest } from '../api/requests.ts'
import { type CallableTool, isCallable, isNamespace } from './callable-tools.ts'
import { CUSTOM_PARAMETERS, customDescription } from './custom-tools.ts'
import { isOwnTool, ownFunction } from './own-tools.ts'
import { read, wrongType } from './request-reader.ts'

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
 * - A tool of the API's own that the client runs becomes a function; `ownCallFields` converts its calls back.
 * - A namespace becomes its tools; its description is dropped.
 * - `allowed_tools` is applied by offering only those.
 * - Other built-in tools are dropped.
 *
 * @param tools callable tools of the request
 * @param refused field that the upstream has just rejected, such as `tools[1].parameters`; its tool is dropped
 * @param keepsMarks true where the upstream takes marks for a cache
 */
export function toChatTools(
  request: ResponseRequest,
  tools: readonly CallableTool[],
  refused: string | null = null,
  keepsMarks = false,
): ChatTools {
  const choice = choiceOf(request.tool_choice)
  const allowed = choice?.type === 'allowed_tools' ? allowedTools(choice.tools, tools) : tools
  const fault = `${(refused ?? '').split(/[.[\]]+/).join('.')}.`
  const offered = allowed.filter(({ path }) => !fault.startsWith(`${path}.`))
  const chosen = toChatChoice(request.tool_choice, offered)
  if (offered.length === 0) return {}
  return {
    tools: offered.map((tool) => ({ ...toChatTool(tool), ...(keepsMarks && markOf(tool)) })),
    tool_choice: chosen,
    parallel_tool_calls: request.parallel_tool_calls,
  }
}

/** Callable tools of a request as a Response echoes them, with every key. */
export function echoedTools(request: ResponseRequest): ResponseTool[] {
  const echoed = read.objects(request.tools, 'tools').flatMap((tool, index) => {
    if (!isNamespace(tool)) return echoedTool(tool)
    const own = read.objects(tool.tools, `tools.${index}.tools`).flatMap(echoedTool)
    return own.length === 0 ? [] : [{ ...tool, tools: own }]
  })
  return echoed as unknown as ResponseTool[]
}

/** Tool choice of a request as a Response echoes it; `auto` when it named a built-in tool. */
export function echoedToolChoice({ tool_choice: choice }: ResponseRequest): ResponseToolChoice {
  if (isMode(choice)) return choice
  const type = choiceOf(choice)?.type
  const known = type === 'function' || type === 'custom' || type === 'allowed_tools' || isOwnTool({ type })
  return known ? (choice as ResponseToolChoice) : 'auto'
}

const isMode = (choice: unknown): choice is 'auto' | 'none' | 'required' =>
  choice === 'auto' || choice === 'none' || choice === 'required'

/** The object of a tool choice. Undefined for a mode, and without a choice. */
function choiceOf(choice: unknown): Fields | undefined {
  if (isMode(choice) || choice === undefined || choice === null) return undefined
  if (isObject(choice)) return choice
  throw wrongType('tool_choice', '"auto", "none", "required" or an object')
}

const echoedTool = (tool: Fields): Fields[] => (isCallable(tool) ? [wholeTool(tool)] : [])

/** A tool as a Response echoes it. Functions get every key that Open Responses requires. */
export const wholeTool = (tool: Fields): Fields =>
  tool.type === 'function' ? { description: null, parameters: null, strict: null, ...tool } : tool

function toChatTool(tool: CallableTool): ChatTool {
  if (tool.own !== undefined) return { type: 'function', function: { name: tool.chatName, ...ownFunction(tool.own) } }
  return tool.isCustom ? fromCustomTool(tool) : fromFunctionTool(tool)
}

const markOf = ({ given }: CallableTool): Fields => present({ cache_control: given.cache_control })

function fromFunctionTool({ chatName: name, given }: CallableTool): ChatTool {
  const { description, parameters, strict } = given
  return { type: 'function', function: present({ name, description, parameters, strict }) as never }
}

function fromCustomTool({ chatName: name, given, path }: CallableTool): ChatTool {
  const description = customDescription(given, path)
  return { type: 'function', function: { name, description, parameters: CUSTOM_PARAMETERS } }
}

function allowedTools(allowed: unknown, tools: readonly CallableTool[]): CallableTool[] {
  const path = 'tool_choice.tools'
  const choices = read.objects(allowed, path)
  const named = new Set(choices.flatMap((choice, index) => toolsNamed(choice, `${path}.${index}`, tools)))
  return tools.filter((tool) => named.has(tool))
}

/** Converts the choice of a tool. That of a built-in tool is dropped, like the tool. */
function toChatChoice(choice: unknown, offered: readonly CallableTool[]): ChatToolChoice | undefined {
  if (isMode(choice)) return choice
  const given = choiceOf(choice)
  if (given === undefined) return undefined
  const type = read.text(given.type, 'tool_choice.type')
  if (type === 'allowed_tools') return modeOf(given.mode)
  if (type !== 'function' && type !== 'custom' && !isOwnTool(given)) return undefined
  const [tool] = toolsNamed(given, 'tool_choice', offered)
  return tool && { type: 'function', function: { name: tool.chatName } }
}

function modeOf(mode: unknown): ChatToolChoice | undefined {
  if (mode === undefined || mode === null || isMode(mode)) return mode ?? undefined
  throw wrongType('tool_choice.mode', '"auto" or "required"')
}

/**
 * Finds the tools of a choice. A namespace selects all of its tools; a name without namespace may belong to a tool in
 * any. Built-in tools have no name, and are none of `tools`.
 */
function toolsNamed(choice: Fields, path: string, tools: readonly CallableTool[]): readonly CallableTool[] {
  const type = read.text(choice.type, `${path}.type`)
  if (type === 'namespace') {
    const namespace = read.text(choice.name, `${path}.name`)
    return tools.filter((tool) => tool.namespace === namespace)
  }
  if (isOwnTool(choice)) return tools.filter(({ own }) => own === type)
  if (type !== 'function' && type !== 'custom') return []
  const name = read.text(choice.name, `${path}.name`)
  const namespace = read.optionalText(choice.namespace, `${path}.namespace`)
  const alike = tools.filter((tool) => tool.name === name)
  const exact = alike.filter((tool) => tool.namespace === namespace)
  return exact.length > 0 || namespace ? exact : alike
}
