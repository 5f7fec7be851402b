import { createHash } from 'node:crypto'
import { asText, type Loose, records } from './loose.ts'
import type { ResponseRequest } from './requests.ts'

/** A tool as a call in a Response names it. */
export interface CalledTool {
  name: string
  namespace?: string
  /** Whether its calls take text and not JSON. */
  isCustom: boolean
}

/** A tool that the model can call in chat. */
export interface CallableTool extends CalledTool {
  /** What chat completions calls it, which knows no namespaces. */
  chatName: string
  /** Where the request has it, such as `tools.1.tools.0`. */
  path: string
  /** As the request has it. */
  given: Loose
}

/** The tools of a Responses request that the model can call in chat, by their names there and here. */
export interface CallableTools {
  offered: readonly CallableTool[]
  /** What chat completions calls the tool of an earlier call. */
  chatName(call: Loose): string
  /** The tool that a call in chat means; a function where it was not offered. */
  called: FindTool
}

/** @param chatName what chat completions calls the tool */
export type FindTool = (chatName: string) => CalledTool

/** Items of the input that hold tools: those that the client added, as Codex may add all, or that a search found. */
const WITH_TOOLS: ReadonlySet<unknown> = new Set(['additional_tools', 'tool_search_output'])

/** As long as the name of a function may be in chat completions. */
const LONGEST_NAME = 64

/**
 * The functions and custom tools of a request, those in its namespaces, and those that its input holds. A tool keeps its
 * name; one in a namespace is named after both, and like no other.
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

/** Whether chat completions can have a tool, as a function. */
export const isCallable = ({ type, name }: Loose): boolean => (type === 'function' || type === 'custom') && isText(name)

/** Whether a tool is a group of others. */
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

/** @param taken the names of other tools. A name that is one of them, or too long, ends in a hash of both of its parts. */
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
