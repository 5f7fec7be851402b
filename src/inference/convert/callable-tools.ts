import { createHash } from 'node:crypto'
import { asText, type Loose, records } from '../../text/loose.ts'
import type { ResponseRequest } from '../api/requests.ts'

/** A tool as the calls of a Response name it. */
export interface CalledTool {
  name: string
  namespace?: string
  /** True when its calls take plain text instead of JSON. */
  isCustom: boolean
}

/** A tool that the model can call through chat completions. */
export interface CallableTool extends CalledTool {
  /** Name in chat completions, which has no namespaces. */
  chatName: string
  /** Path in the request, such as `tools.1.tools.0`. */
  path: string
  /** Definition in the request. */
  given: Loose
}

/** Tools of a Responses request that the model can call in chat, indexed by both names. */
export interface CallableTools {
  offered: readonly CallableTool[]
  /** Name in chat of the tool of an earlier call. */
  chatName(call: Loose): string
  /** Finds the tool of a call in chat. An unknown name is taken as a function. */
  called: FindTool
}

/** Finds a tool by its name in chat. */
export type FindTool = (chatName: string) => CalledTool

/** Input items that contain tools: added by the client, as Codex does, or found by a search. */
const WITH_TOOLS: ReadonlySet<unknown> = new Set(['additional_tools', 'tool_search_output'])

/** Longest function name in chat completions. */
const LONGEST_NAME = 64

/**
 * Collects the functions and custom tools of a request, those in its namespaces, and those in its input. Tools keep
 * their names. A tool in a namespace gets a unique name from both parts.
 */
export function callableTools(request: ResponseRequest): CallableTools {
  const given = [
    ...toolsOf(request.tools, 'tools'),
    ...records(request.input).flatMap(({ type, tools }, index) =>
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
    chatName(call) {
      const tool = { name: asText(call.name), ...inNamespace(call.namespace) }
      return tools.get(keyOf(tool))?.chatName ?? toChatName(tool, taken)
    },
    called: (name) => byChatName.get(name) ?? { name, isCustom: false },
  }
}

/** Tells whether chat completions can offer a tool as a function. */
export const isCallable = ({ type, name }: Loose): boolean => (type === 'function' || type === 'custom') && isText(name)

/** Tells whether a tool is a group of others. */
export const isNamespace = ({ type, name }: Loose): boolean => type === 'namespace' && isText(name)

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

const toolsOf = (list: unknown, path: string) =>
  records(list).flatMap((tool, index) => toolsIn(tool, `${path}.${index}`))

function toolsIn(tool: Loose, path: string): Omit<CallableTool, 'chatName'>[] {
  if (!isNamespace(tool)) return isCallable(tool) ? [unnamed(tool, path)] : []
  const inner = records(tool.tools).map((given, index) => unnamed(given, `${path}.tools.${index}`))
  return inner.filter(({ given }) => isCallable(given)).map((given) => ({ ...given, ...inNamespace(tool.name) }))
}

const unnamed = (given: Loose, path: string) => ({
  name: asText(given.name),
  isCustom: given.type === 'custom',
  path,
  given,
})

const inNamespace = (namespace: unknown) => (isText(namespace) ? { namespace } : {})

type Named = Pick<CalledTool, 'name' | 'namespace'>

const keyOf = ({ namespace, name }: Named): string => JSON.stringify([namespace ?? null, name])

/**
 * Builds the name in chat. A name that is taken or too long ends in a hash of both parts.
 *
 * @param taken names of other tools
 */
function toChatName({ namespace, name }: Named, taken: ReadonlySet<string>): string {
  if (namespace === undefined) return name
  const whole = `${namespace}${namespace.endsWith('__') ? '' : '__'}${name}`.replace(/[^a-zA-Z0-9_-]/g, '_')
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
