import * as z from 'zod'
import type { CallContext } from '../src/calls/call-record.ts'
import type { ToolName } from '../src/config/sections/mcp-section.ts'
import type { Gateway } from '../src/gateway.ts'
import type { Keep } from '../src/idempotency/idempotency.ts'
import type { MemoryOwner } from '../src/memory/memory.ts'
import { NOTICE } from '../src/text/untrusted-text-notice.ts'

/** Side effects of a tool, as MCP annotations; clients ask their user before destructive ones. */
export interface ToolAnnotations {
  readOnlyHint: boolean
  destructiveHint: boolean
  idempotentHint: boolean
  openWorldHint: boolean
}

/** Context of a call, besides its input. */
export interface ToolContext extends CallContext {
  /**
   * Returns the caller's root folders. Roots that are not folders on this machine are omitted. May have to ask the
   * client.
   */
  roots: () => Promise<readonly string[]>
  /** Returns the project that the caller works in: its first root, or else the working directory. Null over HTTP. */
  projectRoot: () => Promise<string | null>
  /** Owner of the memories; the operator by default. */
  memoryOwner?: MemoryOwner
  /** Key whose gaze records the caller may read; all records when absent. */
  gazeOf?: string | undefined
  /** Size limit of a list in one reply, in bytes. */
  maxBytes?: number | undefined
  /** Size limit of the work context in one reply, in tokens. */
  mostTokens?: number | undefined
}

/** One of the twelve functions, as every adapter consumes it. */
export interface Tool<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodObject = z.ZodObject> {
  name: ToolName
  title: string
  /** Written for the model that chooses among the tools: when to use it, when not, an example. */
  description: string
  annotations: ToolAnnotations
  /** Results may have more characters than Claude Code gives its model by default (about 50,000). */
  isLarge?: true
  input: Input
  output: Output
  /** Schema of results in lists of tools, where the whole one is too large; it accepts every result. */
  listed?: z.ZodObject
  /** @param keep stores the result for replays, in the transaction of the tool's effect */
  run(
    gateway: Gateway,
    input: z.output<Input>,
    context: ToolContext,
    keep?: Keep<z.input<Output>>,
  ): Promise<z.input<Output>>
  /** Runs the tool when the store cannot be opened. A tool without it needs the store. */
  runStoreless?(
    gateway: Pick<Gateway, 'context'>,
    input: z.output<Input>,
    context: ToolContext,
  ): Promise<z.input<Output>>
  /** Formats the output as text for a model to read. */
  render(output: z.output<Output>): string
}

/** Ties a tool's input and output types to its schemas. */
export const defineTool = <Input extends z.ZodObject, Output extends z.ZodObject>(
  tool: Tool<Input, Output>,
): Tool<Input, Output> => tool

/** Tools that may answer from a copy while the remote Gazeway does not. */
const OF_REMOTE = new Set<ToolName>(['gateway_memory_recall', 'gateway_memory_search'])

/**
 * Adds `notice` in front of the result of a tool that returns other people's text. It is a field of the result, because
 * some clients show their model only the structured result.
 */
export function withNotice(tool: Tool): Tool {
  return {
    ...tool,
    output: z.object({ notice: z.string(), ...tool.output.shape }),
    async run(gateway, input, context) {
      const made = await tool.run(gateway, input, context)
      const offline = OF_REMOTE.has(tool.name) ? gateway.remote?.offlineNote() : null
      return { notice: offline ? `${offline} ${NOTICE}` : NOTICE, ...made }
    },
    render: (made) => `${String(made.notice ?? '').replace(NOTICE, '')}${tool.render(made)}`,
  }
}
