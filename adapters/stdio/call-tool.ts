import type { CallToolResult } from '@modelcontextprotocol/server'
import { CODES, errorBody, GazewayError, typeOf } from '../../src/errors.ts'
import type { Gateway } from '../../src/gateway.ts'
import { isStoreFault } from '../../src/storeless-gateway.ts'
import { cut } from '../../src/text/cut.ts'
import { defusedJson } from '../../src/text/defuse-client-tags.ts'
import { isObject } from '../../src/text/json.ts'
import { readAsMeant } from '../../src/wire/lenient-tool-arguments.ts'
import { parseInput } from '../../src/wire/validation.ts'
import { tools } from '../../tools/index.ts'
import { runTool } from '../../tools/run-tool.ts'
import type { Tool, ToolContext } from '../../tools/tool.ts'
import { fitReply, fitText } from './fit-reply.ts'

/**
 * Runs a tool by name and formats its result: structured content with its text, or an error that the model can read.
 * The text of an error is `CODE: message`, and all its fields are in `_meta.error`. Never throws.
 *
 * @param onFault called with each error that is Gazeway's own fault
 * @param storeless returns the services that work without the store, when it cannot be opened for the given reason
 */
export async function callTool(
  name: string,
  args: unknown,
  gateway: () => Promise<Gateway>,
  context: ToolContext,
  onFault: (error: unknown) => void,
  storeless?: (fault: GazewayError) => Pick<Gateway, 'context'>,
): Promise<CallToolResult> {
  try {
    const tool = tools.find((known) => known.name === name)
    if (!tool)
      throw new GazewayError('unknown_tool', `There is no tool ${cut(name, 0, 100)}; tools/list lists all tools.`)
    const input = parseInput(tool.input, isObject(args) ? readAsMeant(tool.input, args) : (args ?? {}))
    const output = await gateway().then(
      (opened) => runTool(tool, opened, input, context),
      (fault: unknown) => {
        const run = tool.runStoreless
        if (!run || !storeless || !(fault instanceof GazewayError && isStoreFault(fault))) throw fault
        return runTool({ ...tool, run }, storeless(fault), input, context)
      },
    )
    return await replyWith(tool, output)
  } catch (error) {
    const known = error instanceof GazewayError ? error : internal(error, onFault)
    return {
      isError: true,
      content: [{ type: 'text', text: `${known.code}: ${known.message}` }],
      _meta: { error: { ...errorBody(known), message: known.message, type: kindOf(known) } },
    }
  }
}

/**
 * Builds a reply with the result as JSON and as text, both within the token limit and without tags that clients treat as
 * their own. A note tells what was cut.
 */
async function replyWith(tool: Tool, whole: Record<string, unknown>): Promise<CallToolResult> {
  const { output, note } = await fitReply(defusedJson(whole))
  const text = await fitText([tool.render(output), ...(note === null ? [] : [`(${note})`])].join('\n\n'))
  return { content: [{ type: 'text', text }], structuredContent: note === null ? output : { cut: note, ...output } }
}

function internal(error: unknown, onFault: (error: unknown) => void): GazewayError {
  onFault(error)
  return new GazewayError('internal_error', 'Internal error. The log on stderr shows the cause.')
}

/**
 * Type of an error. For a status of 500 or above it is derived from the code. An upstream's status 500 would otherwise
 * look like a fault of Gazeway.
 */
const kindOf = ({ code, status }: GazewayError): string => (status >= 500 ? CODES[code].type : typeOf(status))
