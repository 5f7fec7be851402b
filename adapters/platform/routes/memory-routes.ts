import * as z from 'zod'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import { KeyId } from '../../../src/identity/keys.ts'
import {
  Memory,
  MemoryList,
  type MemoryOwner,
  MemorySearch,
  type MemoryService,
  memoryOwner,
} from '../../../src/memory/memory.ts'
import { parseInput } from '../../../src/wire/validation.ts'
import { memoryRecall } from '../../../tools/memory-recall.ts'
import { memoryStore } from '../../../tools/memory-store.ts'
import { runTool } from '../../../tools/run-tool.ts'
import type { ToolContext } from '../../../tools/tool.ts'
import { callerOf, type FrameContext } from '../../web/frame-context.ts'
import { beginReplyInTurn } from '../../web/large-reply-queue.ts'
import { listReply } from '../../web/list-reply.ts'
import { recallMemory } from '../../web/recall-memory.ts'
import { requestToolContext } from '../../web/tool-context.ts'
import { shownTo } from '../caller.ts'
import { defineRoute, type Route } from '../define-route.ts'
import { pageOf } from '../list-page.ts'

const { namespace, tags, project, projects, from, to } = MemorySearch.shape

/** Owner of the memories. Only an admin's key may name another. */
const caller_id = KeyId.optional().describe(
  "Owner of the memories. An admin's key may name another platform key by its id; its own memories are the operator's.",
)

const trusted = z
  .literal(true)
  .optional()
  .describe('Only memories that a model may get unasked: of trusted writers, see docs/reference/memory.md.')

const Search = z.strictObject({
  query: MemorySearch.shape.query,
  filters: z.strictObject({ namespace, tags, project, projects, from, to }).prefault({}),
  limit: MemorySearch.shape.limit,
  caller_id,
  weak: MemorySearch.shape.limit
    .unwrap()
    .optional()
    .describe('Number of results that memories with few words of the query fill up to; these have weak: true.'),
  excerpt_length: z.int().min(100).max(2000).optional().describe('Characters of an excerpt; 200 by default.'),
  trusted,
})

const ListedMemories = MemoryList.extend({
  caller_id,
  trusted: z.literal('true').optional().describe(`${trusted.description} With it, those of the project and of none.`),
  projects: projects.describe('With trusted, "all": memories of every project.'),
}).strict()

const Recall = z
  .strictObject({
    key: memoryRecall.input.shape.key.optional(),
    q: MemorySearch.shape.query
      .optional()
      .describe('Words to search for when the key is unknown; returns the best match.'),
    version: memoryRecall.input.shape.version,
    caller_id,
    project: project
      .unwrap()
      .unwrap()
      .optional()
      .describe('Project of the memory, or none if it has none there. Default: only memories without a project.'),
    projects: projects.describe('With q, "all": memories of every project.'),
    namespace: namespace.describe('Namespace of the key (default: "default"), or of the best match.'),
  })
  .refine(({ key, q }) => (key === undefined) !== (q === undefined), {
    path: ['key'],
    error: 'exactly one of key and q is required',
  })

const FoundMemory = z.object({
  memory: Memory,
  score: z.number().describe('How well the memory matches the query, in (0, 1); comparable between queries.'),
  weak: z.literal(true).optional(),
  excerpt: z.string().describe('Part of the value around the first match, at most 200 characters by default.'),
})

const FoundMemories = z.object({
  results: z.array(FoundMemory),
  total: z.int().describe('Number of matches, counted up to 1,000.'),
  mode: z
    .enum(['lexical', 'hybrid'])
    .describe('hybrid when vectors contributed to the ranking; see docs/reference/memory.md.'),
})
export type FoundMemories = z.infer<typeof FoundMemories>

const MemoryStats = z.object({
  engine: z.string().describe('Store of the memories: sqlite or postgres.'),
  count: z.int(),
  bytes: z.int().describe('Keys, values and tags as UTF-8 JSON.'),
  namespaces: z.record(z.string(), z.int()).describe('Number of memories per namespace.'),
  oldest_at: z.string().nullable().describe('Creation time of the oldest memory.'),
  newest_at: z.string().nullable().describe('Time of the last store.'),
})
export type MemoryStats = z.infer<typeof MemoryStats>

/** Routes of memories. A platform key has its own; admins use the memories that the tools store and find. */
export const memoryRoutes = (gateway: Gateway): Route[] => [
  defineRoute('GET /api/memory', {
    operation: 'listMemories',
    summary: 'List memories, last stored first',
    access: 'platform',
    query: ListedMemories,
    reply: pageOf(Memory),
    async run({ query: { caller_id: of, trusted: onlyTrusted, projects, ...query }, c }) {
      const memories = memoryOf(gateway, c, of)
      if (!onlyTrusted) return listReply(query, (part) => memories.recent(part))
      const items = await memories.newest({ project: query.project, projects, limit: query.limit })
      return { items, total: items.length, next_cursor: null }
    },
  }),
  defineRoute('POST /api/memory', {
    operation: 'storeMemory',
    summary: 'Store a memory',
    description: 'An existing key gets a new version.',
    access: 'platform',
    body: memoryStore.input,
    reply: memoryStore.output,
    status: 201,
    idempotent: true,
    run: ({ body, c, keep }) => runTool(memoryStore, gateway, body, contextOf(c), keep),
  }),
  ...searchRoutes(gateway),
  defineRoute('GET /api/memory/stats', {
    operation: 'getMemoryStats',
    summary: 'Retrieve the number and size of memories',
    access: 'platform',
    query: z.strictObject({ caller_id }),
    reply: MemoryStats,
    run: ({ query, c }) => memoryOf(gateway, c, query.caller_id).stats(),
  }),
  defineRoute('DELETE /api/memory/{id}', {
    operation: 'deleteMemory',
    summary: 'Delete a memory; an admin key deletes any',
    access: 'platform',
    params: z.strictObject({ id: z.string().min(1).max(128) }),
    reply: z.void(),
    status: 204,
    run({ params, c }) {
      const identity = callerOf(c)
      if (identity.scopes.has('admin')) return gateway.memory.removeAnyones(params.id)
      return gateway.memory.of(memoryOwner(identity), identity.id).remove(params.id)
    },
  }),
]

const searchRoutes = (gateway: Gateway): Route[] => [
  defineRoute('POST /api/memory/search', {
    operation: 'searchMemories',
    summary: 'Search memories, best match first',
    description:
      'Inflections, beginnings of words and typos match too. Stop words are ignored. from and to limit the time at ' +
      'which a memory was last stored.',
    access: 'platform',
    body: Search,
    reply: FoundMemories,
    run: ({ body: { query, filters, limit, caller_id: of, weak: fill, excerpt_length, trusted: onlyTrusted }, c }) =>
      beginReplyInTurn(async () => {
        const memories = memoryOf(gateway, c, of)
        const asked = { query, ...filters, limit, weak: fill, excerptLength: excerpt_length }
        const found = await (onlyTrusted ? memories.related : memories.search)(asked, contextOf(c))
        return { ...found, results: found.results.map(({ weak, ...result }) => ({ ...result, ...(weak && { weak }) })) }
      }),
  }),
  defineRoute('GET /api/memory/recall', {
    operation: 'recallMemory',
    summary: 'Retrieve a memory by key, or the best match',
    access: 'platform',
    query: Recall,
    reply: z.object({ found: z.literal(true), memory: Memory, score: z.number().describe('1 for a key.') }),
    async run({ query: { key, q, version, namespace: where, project, projects, caller_id: of }, c }) {
      const found = { query: q ?? '', namespace: where, project, projects, limit: 1 }
      if (key === undefined) return best(memoryOf(gateway, c, of), found, contextOf(c))
      const input = parseInput(memoryRecall.input, { key, version, namespace: where, project })
      const memory = await recallMemory(gateway, input, { ...contextOf(c), memoryOwner: ownerOf(c, of) })
      return { found: true as const, memory, score: 1 }
    },
  }),
]

const contextOf = (c: FrameContext) => requestToolContext(c, 'platform')

/**
 * Finds the owner of the memories that a caller reads: itself, or the key that an admin names.
 *
 * @throws GazewayError `insufficient_scope` when another caller names one
 */
function ownerOf(c: FrameContext, keyId: string | undefined): MemoryOwner {
  const identity = callerOf(c)
  const of = shownTo(identity, keyId)
  return of === undefined || of === identity.id ? memoryOwner(identity) : of
}

const memoryOf = ({ memory }: Gateway, c: FrameContext, keyId: string | undefined): MemoryService =>
  memory.of(ownerOf(c, keyId), callerOf(c).id)

async function best(memory: MemoryService, query: MemorySearch, context: ToolContext) {
  const { results } = await memory.search(query, context)
  const [found] = results
  if (found) return { found: true as const, memory: found.memory, score: found.score }
  throw new GazewayError('not_found', 'No memory matches. Search with other words, or list them all.', { param: 'q' })
}
