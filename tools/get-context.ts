import type * as z from 'zod'
import { ContextInput, renderContext, WorkContext } from '../src/context/context.ts'
import type { Gateway } from '../src/gateway.ts'
import { defineTool, type ToolContext } from './tool.ts'

const Input = ContextInput.strict()

export const getContext = defineTool({
  name: 'gateway_get_context',
  title: 'Get the work context',
  description:
    "Where this project's owner has been looking and working: folders, files and line ranges by weight, with reasons and " +
    'excerpts, and memories that fit. Call it first in a session, or when unsure where to start. Local and free. Not a ' +
    'text search. Example: query "retry logic of the payment client".',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  isLarge: true,
  input: Input,
  output: WorkContext,
  run,
  runStoreless: run,
  render: renderContext,
})

async function run(gateway: Pick<Gateway, 'context'>, input: z.output<typeof Input>, context: ToolContext) {
  const max_tokens = Math.min(input.max_tokens, context.mostTokens ?? input.max_tokens)
  return gateway.context.get({ ...input, max_tokens }, await context.roots(), context)
}
