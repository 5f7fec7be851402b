import { createHash } from 'node:crypto'
import type { Fields } from '../../text/typed-reader.ts'
import type { ResponseRequest } from '../api/requests.ts'
import { isOwnTool } from './own-tools.ts'
import { read, wrongType } from './request-reader.ts'

/** A tool as the calls of a Response name it. */
export interface CalledTool {
  name: string
  namespace?: string
  /** True when its calls take plain text instead of JSON. */
  isCustom: boolean
  /** Type of a tool of the API's own that the client runs. */
  own?: string
}

/** A tool that the model can call through chat completions. */
export interface CallableTool extends CalledTool {
  /** Name in chat completions, which has no namespaces. */
  chatName: string
  /** Path in the request, such as `tools.1.tools.0`. */
  path: string
  /** Definition in the request. */
  given: Fields
}

/** Tools of a Responses request that the model can call in chat, indexed by both names. */
export interface CallableTools {
  offered: readonly CallableTool[]
  /**
   * Name in chat of the tool of an earlier call.
   *
   * @param path of the call in the request
   */
  chatName(call: Fields, path: string): string
  /** Finds the tool of a call in chat. An unknown name is taken as a function. */
  called: FindTool
}

/** Finds a tool by its name in chat. */
export type FindTool = (chatName: string) => CalledTool

/** Input items that contain tools: added by the client, as Codex does, or found by a search. */
export const WITH_TOOLS: ReadonlySet<unknown> = new Set(['additional_tools', 'tool_search_output'])

/** Longest function name in chat completions. */
const LONGEST_NAME = 64

/**
 * Collects the functions and custom tools of a request, the tools of the API's own that the client runs, those in its
 * namespaces, and those in its input. Tools keep their names, unless they are too long. A tool in a namespace gets a unique
 * name from both parts.
 *
 * @throws GazewayError `invalid_request` naming a malformed tool
 */
export function callableTools(request: ResponseRequest): CallableTools {
  const given = [
    ...toolsOf(request.tools, 'tools'),
    ...itemsOf(request.input).flatMap(({ type, tools }, index) =>
      WITH_TOOLS.has(type) ? toolsOf(tools, `input.${index}.tools`) : [],
    ),
  ]
  const taken = new Set(given.filter((tool) => tool.namespace === undefined).map((tool) => tool.name))
  const tools = new Map<string, CallableTool>()
  for (const tool of given) {
    if (tools.has(keyOf(tool))) continue
    const chatName = toChatName(tool, taken)
    taken.add(chatName)
    tools.set(keyOf(tool), { ...tool, chatName })
  }
  const offered = [...tools.values()]
  const byChatName = new Map(offered.map((tool) => [tool.chatName, tool]))
  return {
    offered,
    chatName(call, path) {
      const namespace = read.optionalText(call.namespace, `${path}.namespace`)
      const tool = { name: read.text(call.name, `${path}.name`), ...inNamespace(namespace) }
      return tools.get(keyOf(tool))?.chatName ?? toChatName(tool, taken)
    },
    called: (name) => byChatName.get(name) ?? { name, isCustom: false },
  }
}

/** Items of the input of a request. A text has none. */
export const itemsOf = (input: unknown): Fields[] => (typeof input === 'string' ? [] : read.objects(input, 'input'))

/** Tells whether chat completions can offer a tool as a function. */
export const isCallable = (tool: Fields): boolean =>
  tool.type === 'function' || tool.type === 'custom' || isOwnTool(tool)

/** Tells whether a tool is a group of others. */
export const isNamespace = ({ type }: Fields): boolean => type === 'namespace'

const toolsOf = (list: unknown, path: string): Omit<CallableTool, 'chatName'>[] =>
  read.objects(list, path).flatMap((tool, index) => toolsIn(tool, `${path}.${index}`))

function toolsIn(tool: Fields, path: string): Omit<CallableTool, 'chatName'>[] {
  if (!isNamespace(tool)) return callable(tool, path)
  const namespace = nameOf(tool, path)
  const inner = read.objects(tool.tools, `${path}.tools`)
  return inner
    .flatMap((given, index) => callable(given, `${path}.tools.${index}`))
    .map((found) => ({ ...found, ...inNamespace(namespace) }))
}

/** The tool, unless it is a built-in one. */
function callable(tool: Fields, path: string): Omit<CallableTool, 'chatName'>[] {
  read.text(tool.type, `${path}.type`)
  return isCallable(tool) ? [unnamed(tool, path)] : []
}

function unnamed(given: Fields, path: string): Omit<CallableTool, 'chatName'> {
  if (isOwnTool(given)) return { name: String(given.type), own: String(given.type), isCustom: false, path, given }
  return { name: nameOf(given, path), isCustom: given.type === 'custom', path, given }
}

function nameOf({ name }: Fields, path: string): string {
  if (typeof name === 'string' && name !== '') return name
  throw wrongType(`${path}.name`, 'text that is not empty')
}

const inNamespace = (namespace: string | undefined) => (namespace ? { namespace } : {})

type Named = Pick<CalledTool, 'name' | 'namespace'>

const keyOf = ({ namespace, name }: Named): string => JSON.stringify([namespace ?? null, name])

/**
 * Builds the name in chat. A name that is taken or too long ends in a hash of both parts.
 *
 * @param taken names of other tools
 */
function toChatName({ namespace, name }: Named, taken: ReadonlySet<string>): string {
  if (namespace === undefined && name.length <= LONGEST_NAME) return name
  const group = namespace === undefined || namespace.endsWith('__') ? (namespace ?? '') : `${namespace}__`
  const whole = `${group}${name}`.replace(/[^a-zA-Z0-9_-]/g, '_')
  let chatName = whole
  for (let n = 0; chatName.length > LONGEST_NAME || taken.has(chatName); n++) {
    const hash = createHash('sha256')
      .update(JSON.stringify([namespace, name, n]))
      .digest('hex')
      .slice(0, 8)
    chatName = `${whole.slice(0, LONGEST_NAME - 9)}_${hash}`
  }
  return chatName
}
