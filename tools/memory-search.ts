import * as z from 'zod'
import { Memory, MemorySearch } from '../src/memory/records/memory-record.ts'
import { plain } from '../src/text/plain.ts'
import { callerProject } from './caller-project.ts'
import { defineTool } from './tool.ts'

export const memorySearch = defineTool({
  name: 'gateway_memory_search',
  title: 'Search memories',
  description:
    'Find memories of this project and general ones by words in key, value or tags; beginnings and typos match. Use it at ' +
    'the start of a task, before you ask a person or a model; not for text in files. ' +
    'Example: query "staging cluster", tags ["deploy"].',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: MemorySearch.omit({ from: true, to: true, project: true }).strict(),
  output: z.object({
    results: z.array(z.object({ memory: Memory, score: z.number(), excerpt: z.string() })),
    total: z.int(),
    mode: z.enum(['lexical', 'hybrid']).describe('hybrid when vectors contributed to the ranking.'),
  }),
  async run({ memory }, input, context) {
    const project = await callerProject(context)
    return memory.of(context.memoryOwner ?? null, context.callerId).search({ ...input, project }, context)
  },
  render({ results, total }) {
    if (results.length === 0) return 'No memory matches.'
    const lines = results.map(({ memory, excerpt }) => plain(`${memory.namespace}/${memory.key}: ${excerpt}`))
    return [...lines, ...(total > results.length ? [`… of ${total} that match`] : [])].join('\n')
  },
})
