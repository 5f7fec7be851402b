import * as z from 'zod'
import { Memory, MemoryInput } from '../src/memory/records/memory-record.ts'
import { plain } from '../src/text/single-line.ts'
import { callerProjects } from './caller-projects.ts'
import { defineTool } from './tool.ts'

export const memoryRecall = defineTool({
  name: 'gateway_memory_recall',
  title: 'Recall a memory',
  description:
    'The memory under an exact key, of this project or else general; gateway_memory_search finds it by subject. ' +
    'Example: key "deploy/staging".',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  isLarge: true,
  input: z.strictObject({
    key: MemoryInput.shape.key.describe('The exact key.'),
    namespace: MemoryInput.shape.namespace,
    project: MemoryInput.shape.project.describe('null: the general one.'),
    version: Memory.shape.version.optional().describe('One of the last 20; default: current.'),
  }),
  output: z.object({
    found: z.boolean(),
    memory: Memory.nullable(),
    superseded_by: z.string().nullable().describe('Key of the memory that replaced it.'),
  }),
  async run({ memory, projects }, input, context) {
    const { project = await callerProjects({ projects }, context) } = input
    return memory.of(context.memoryOwner ?? null, context.callerId).recall({ ...input, project })
  },
  render({ memory, superseded_by }) {
    if (!memory && superseded_by !== null) return `This memory was superseded by ${plain(superseded_by)}: recall that.`
    if (!memory) return 'There is no memory under this key; of each, the last 20 versions are kept.'
    const value = typeof memory.value === 'string' ? memory.value : JSON.stringify(memory.value, null, 2)
    const { key, project, version, updated_at } = memory
    const of = project === null ? 'of no project' : `of the project ${project}`
    return `${plain(`${key} (version ${version}, ${updated_at}, ${of})`)}\n${value}`
  },
})
