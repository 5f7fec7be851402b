import type { z } from 'zod'
import { ContextInput, renderContext, WorkContext } from '../src/context/context.ts'
import type { Gateway } from '../src/gateway.ts'
import { defineTool, type ToolContext } from './tool.ts'

const Input = ContextInput.strict()

export const getContext = defineTool({
  name: 'gateway_get_context',
  title: 'Get the work context',
  description:
    "Where this project's owner has been looking and working: a tree of folders, files and line ranges, weighted by " +
    'attention, uncommitted changes, recent commits and your query, with the reason for each weight, excerpts of the ' +
    'top ones, and the memories that fit. Call it first in a session, or when you do not know where to start. It is ' +
    'local and free. Not a search for text in files: use your editor for that. ' +
    'Example: query "retry logic of the payment client", max_tokens 3000.',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: Input,
  output: WorkContext,
  run,
  runStoreless: run,
  render: renderContext,
})

async function run(gateway: Pick<Gateway, 'context'>, input: z.output<typeof Input>, context: ToolContext) {
  return gateway.context.get(input, await context.roots(), context.signal)
}
