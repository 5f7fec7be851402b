import { z } from 'zod'
import { GazewayError } from '../../src/errors.ts'
import type { Gateway } from '../../src/gateway.ts'
import { Memory, MemoryInput, MemoryList, MemorySearch, type MemoryService } from '../../src/memory/memory.ts'
import { pageOf } from './page.ts'
import { defineRoute, type Route } from './route.ts'

const tag = 'Memory'

const { namespace, tags, from, to } = MemorySearch.shape

const Search = z.strictObject({
  query: MemorySearch.shape.query,
  filters: z.strictObject({ namespace, tags, from, to }).prefault({}),
  limit: MemorySearch.shape.limit,
})

const Recall = z
  .strictObject({
    key: MemoryInput.shape.key.optional(),
    q: MemorySearch.shape.query.optional().describe('Words to look for, where the key is not known: the best match.'),
    namespace: namespace.describe('The namespace of the key ("default" when left out), or that of the best match.'),
  })
  .refine(({ key, q }) => (key === undefined) !== (q === undefined), {
    path: ['key'],
    error: 'must be there, or q, and not both',
  })

const Result = z.object({
  memory: Memory,
  score: z.number().describe('In (0, 1]; 1 for the best match.'),
  excerpt: z.string().describe('At most 200 characters of the value around the first match.'),
})

const Stats = z.object({
  engine: z.string().describe('What keeps the memories: sqlite or postgres.'),
  count: z.int(),
  bytes: z.int().describe('Keys, values and tags as UTF-8 JSON.'),
  namespaces: z.record(z.string(), z.int()).describe('How many memories each namespace holds.'),
  oldest_at: z.string().nullable().describe('When the oldest memory was made.'),
  newest_at: z.string().nullable().describe('When a memory was last stored.'),
})

/** The memories that all assistants share; the same ones that the tools store and find. */
export const memoryRoutes = ({ memory }: Gateway): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/memory',
    tag,
    summary: 'Memories, the last stored first',
    access: 'platform',
    query: MemoryList.strict(),
    reply: pageOf(Memory),
    run: ({ query }) => memory.recent(query),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/memory',
    tag,
    summary: 'Store a memory',
    description: 'Under a key that has one, it is the next version of it.',
    access: 'platform',
    body: MemoryInput.strict(),
    reply: z.object({ memory: Memory, created: z.boolean() }),
    status: 201,
    idempotent: true,
    run: ({ body, keep }) => memory.store(body, keep),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/memory/search',
    tag,
    summary: 'The memories that match best',
    description: 'Beginnings of words and typos match too. from and to bound when a memory was last stored.',
    access: 'platform',
    body: Search,
    reply: z.object({
      results: z.array(Result),
      total: z.int().describe('How many match, counted up to 1,000.'),
    }),
    run: ({ body: { query, filters, limit } }) => memory.search({ query, ...filters, limit }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/memory/recall',
    tag,
    summary: 'One memory: that under a key, or the one that matches best',
    access: 'platform',
    query: Recall,
    reply: z.object({ found: z.literal(true), memory: Memory, score: z.number().describe('1 for a key.') }),
    async run({ query: { key, q, namespace: where } }) {
      const found = key === undefined ? await best(memory, q ?? '', where) : await under(memory, key, where)
      return { found: true as const, ...found }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/memory/stats',
    tag,
    summary: 'How much is stored, and where',
    access: 'platform',
    reply: Stats,
    run: () => memory.stats(),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/memory/{id}',
    tag,
    summary: 'Forget a memory',
    access: 'platform',
    params: z.strictObject({ id: z.string().min(1).max(128) }),
    reply: z.void(),
    status: 204,
    run: ({ params }) => memory.remove(params.id),
  }),
]

async function under(memory: MemoryService, key: string, inNamespace = 'default') {
  const { memory: found } = await memory.recall({ key, namespace: inNamespace })
  if (found) return { memory: found, score: 1 }
  throw new GazewayError('not_found', `There is no memory ${key} in the namespace ${inNamespace}.`, { param: 'key' })
}

async function best(memory: MemoryService, query: string, inNamespace: string | undefined) {
  const { results } = await memory.search({ query, namespace: inNamespace, limit: 1 })
  const [found] = results
  if (found) return { memory: found.memory, score: found.score }
  throw new GazewayError('not_found', 'No memory matches. Search with other words, or list them all.', { param: 'q' })
}
