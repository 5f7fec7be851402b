import * as z from 'zod'
import { Memory, MemoryInput } from '../src/memory/records/memory-record.ts'
import { Similar } from '../src/memory/search/similar.ts'
import { plain } from '../src/text/plain.ts'
import { callerProject } from './caller-project.ts'
import { defineTool } from './tool.ts'

export const memoryStore = defineTool({
  name: 'gateway_memory_store',
  title: 'Store a memory',
  description:
    'Keep a fact under a key, for you and other assistants in later sessions. Use it for decisions, conventions and ' +
    'findings that will matter again; not for secrets, because memories are sent to models with questions. The same ' +
    'key replaces the value. Set also to 6-10 words that others may search with. Belongs to this project unless ' +
    'project is null. Example: key "deploy/staging", value "uses the eu-west cluster", tags ["deploy"].',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: MemoryInput.strict(),
  output: z.object({
    memory: Memory,
    created: z.boolean(),
    similar: z.array(Similar).describe('Memories with nearly the same content: update one, or supersede it.'),
  }),
  async run({ memory }, input, context, keep) {
    const { project = await callerProject(context) } = input
    return memory.of(context.memoryOwner ?? null, context.callerId).store({ ...input, project }, keep)
  },
  render({ memory, created, similar }) {
    const stored = `${created ? 'Stored' : 'Updated'} ${plain(memory.key)} (version ${memory.version}).`
    if (similar.length === 0) return stored
    const named = similar.map(({ key, namespace }) => plain(`${namespace}/${key}`)).join(', ')
    return `${stored} Nearly the same: ${named}. Keep one: store it with supersedes.`
  },
})
