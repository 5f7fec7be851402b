import * as z from 'zod'
import { Memory, MemoryInput, Unindexed } from '../src/memory/records/memory-record.ts'
import { Similar } from '../src/memory/search/similar.ts'
import { MAX_INDEXED_WORDS } from '../src/memory/words/indexed-words.ts'
import { plain } from '../src/text/single-line.ts'
import { callerProjects } from './caller-projects.ts'
import { defineTool } from './tool.ts'

export const memoryStore = defineTool({
  name: 'gateway_memory_store',
  title: 'Store a memory',
  description:
    'Keep a fact under a key, for you and other assistants in later sessions. For decisions, conventions and ' +
    'findings that will matter again; not for secrets: models get memories with questions. The same ' +
    'key replaces the value; forget: true with if_version deletes it. Set also, so that others find it. ' +
    'Belongs to this project unless project is null. ' +
    'Example: key "deploy/staging", value "uses the eu-west cluster", tags ["deploy"].',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input: MemoryInput.extend({
    value: MemoryInput.shape.value.optional(),
    forget: z.boolean().optional().describe('Delete the memory and its versions.'),
  })
    .strict()
    .refine(({ forget, value }) => forget || value !== undefined, { path: ['value'], error: 'missing' })
    .refine(({ forget, if_version }) => !forget || if_version !== undefined, {
      path: ['if_version'],
      error: 'missing',
    }),
  output: z.object({
    memory: Memory,
    created: z.boolean(),
    forgotten: z.boolean().optional(),
    unindexed: Unindexed,
    similar: z.array(Similar).describe('Memories with nearly the same content: update one, or supersede it.'),
  }),
  async run({ memory, projects }, { forget, ...input }, context, keep) {
    const { key, namespace, value = null, if_version = 0 } = input
    const { project = (await callerProjects({ projects }, context))[0] ?? null } = input
    const own = memory.of(context.memoryOwner ?? null, context.callerId)
    if (!forget) return own.store({ ...input, value, project }, keep)
    const reply = (forgotten: Memory) => ({ memory: forgotten, created: false, similar: [], forgotten: true })
    return reply(
      await own.forget({ key, namespace, project, if_version }, keep && ((trx, made) => keep(trx, reply(made)))),
    )
  },
  render({ memory, created, similar, forgotten, unindexed }) {
    if (forgotten) return `Forgot ${plain(memory.key)} and all its versions.`
    const limit = unindexed
      ? ` Search knows its first ${MAX_INDEXED_WORDS} different words, and not ${unindexed} others: store parts.`
      : ''
    const stored = `${created ? 'Stored' : 'Updated'} ${plain(memory.key)} (version ${memory.version}).${limit}`
    if (similar.length === 0) return stored
    const named = similar.map(({ key, namespace }) => plain(`${namespace}/${key}`)).join(', ')
    return `${stored} Nearly the same: ${named}. Keep one: store it with supersedes.`
  },
})
