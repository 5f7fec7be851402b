import * as z from 'zod'
import { Memory, MemoryInput } from '../src/memory/records/memory-record.ts'
import { plain } from '../src/text/plain.ts'
import { defineTool } from './tool.ts'

export const memoryRecall = defineTool({
  name: 'gateway_memory_recall',
  title: 'Recall a memory',
  description:
    'The memory under an exact key. Use gateway_memory_search when you know only its subject. An unknown key is not ' +
    'an error: found is false. Example: key "deploy/staging".',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    key: MemoryInput.shape.key,
    namespace: MemoryInput.shape.namespace,
    version: Memory.shape.version.optional().describe('One of the last 20 versions; the current one by default.'),
  }),
  output: z.object({
    found: z.boolean(),
    memory: Memory.nullable(),
    superseded_by: z.string().nullable().describe('Key of the memory that replaced it.'),
  }),
  run: ({ memory }, input, { memoryOwner = null, callerId }) => memory.of(memoryOwner, callerId).recall(input),
  render({ memory, superseded_by }) {
    if (!memory && superseded_by !== null) return `This memory was superseded by ${plain(superseded_by)}: recall that.`
    if (!memory) return 'There is no memory under this key.'
    const value = typeof memory.value === 'string' ? memory.value : JSON.stringify(memory.value, null, 2)
    return `${plain(memory.key)} (version ${memory.version}, ${memory.updated_at})\n${value}`
  },
})
