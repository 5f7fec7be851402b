import type * as z from 'zod'
import { GazewayError } from '../../src/errors.ts'
import type { Gateway } from '../../src/gateway.ts'
import type { Memory } from '../../src/memory/memory.ts'
import { memoryRecall } from '../../tools/memory-recall.ts'
import { runTool } from '../../tools/run-tool.ts'
import type { ToolContext } from '../../tools/tool.ts'

/**
 * Recalls a memory for a client over HTTP. A missing memory is an error, so that the status shows it.
 *
 * @throws GazewayError `not_found`
 */
export async function recallMemory(
  gateway: Gateway,
  input: z.output<typeof memoryRecall.input>,
  context: ToolContext,
): Promise<Memory> {
  const { memory, superseded_by } = await runTool(memoryRecall, gateway, input, context)
  if (memory) return memory
  const { key, namespace, project } = input
  const of = project ? ` of the project ${project}` : ''
  const instead =
    superseded_by === null ? '' : ` It was superseded by ${superseded_by}: recall that, or a version of it.`
  throw new GazewayError('not_found', `There is no memory ${key} in the namespace ${namespace}${of}.${instead}`, {
    param: 'key',
  })
}
