import type { CallToolResult } from '@modelcontextprotocol/server'
import { CODES, errorBody, GazewayError, typeOf } from '../../src/errors.ts'
import type { Gateway } from '../../src/gateway.ts'
import { isStoreFault } from '../../src/storeless-gateway.ts'
import { cut } from '../../src/text/cut.ts'
import { parseInput } from '../../src/wire/validation.ts'
import { tools } from '../../tools/index.ts'
import { runTool } from '../../tools/run-tool.ts'
import type { Tool, ToolContext } from '../../tools/tool.ts'
import { fitReply, fitText } from './fit-reply.ts'

/**
 * Runs a tool by name and dresses what comes of it: structured content with its text, or an error that the model can
 * read (`CODE: message`, the whole of it under `_meta.error`). Never throws.
 *
 * @param onFault told of errors that are Gazeway's own fault
 * @param storeless what works of a gateway whose store cannot be opened, for the given reason
 * @param offers whether the server offers a tool
 */
export async function callTool(
  name: string,
  args: unknown,
  gateway: () => Promise<Gateway>,
  context: ToolContext,
  onFault: (error: unknown) => void,
  storeless?: (fault: GazewayError) => Pick<Gateway, 'context'>,
  offers: (name: string) => boolean = () => true,
): Promise<CallToolResult> {
  try {
    const tool = offers(name) ? tools.find((known) => known.name === name) : undefined
    if (!tool)
      throw new GazewayError('unknown_tool', `There is no tool ${cut(name, 0, 100)}; tools/list names them all.`)
    const input = parseInput(tool.input, args ?? {})
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

/** A result as a client takes it: the same as JSON and as text, with a word on what was cut from it. */
async function replyWith(tool: Tool, whole: Record<string, unknown>): Promise<CallToolResult> {
  const { output, note } = await fitReply(whole)
  const text = await fitText([tool.render(output), ...(note === null ? [] : [`(${note})`])].join('\n\n'))
  return { content: [{ type: 'text', text }], structuredContent: note === null ? output : { cut: note, ...output } }
}

function internal(error: unknown, onFault: (error: unknown) => void): GazewayError {
  onFault(error)
  return new GazewayError('internal_error', 'Gazeway itself failed; its log on stderr says more.')
}

/** Here no status tells an upstream's fault from one of Gazeway's own: an upstream's 500 is one, too, by its code. */
const kindOf = ({ code, status }: GazewayError): string => typeOf(status >= 500 ? CODES[code] : status)
