import * as z from 'zod'
import { GazewayError } from '../errors.ts'
import {
  type FoundMemories,
  type InProjects,
  Memory,
  type MemorySearch,
  type MemoryService,
  type SearchForm,
} from '../memory/memory.ts'
import { Unindexed } from '../memory/records/memory-record.ts'
import { Similar } from '../memory/search/similar.ts'
import type { AskRemote } from './remote-request.ts'

const Stored = z.object({ memory: Memory, created: z.boolean(), unindexed: Unindexed, similar: z.array(Similar) })
const Found = z.object({
  results: z.array(
    z.object({ memory: Memory, score: z.number(), weak: z.boolean().default(false), excerpt: z.string() }),
  ),
  total: z.int(),
  mode: z.enum(['lexical', 'hybrid']),
})
const Page = z.object({ items: z.array(Memory), total: z.int(), next_cursor: z.string().nullable() })
const Stats = z.object({
  engine: z.enum(['sqlite', 'postgres']),
  count: z.int(),
  bytes: z.int(),
  namespaces: z.record(z.string(), z.int()),
  oldest_at: z.string().nullable(),
  newest_at: z.string().nullable(),
})

/** The memories of the remote Gazeway that its key sees, over its REST API. Its functions throw what `ask` throws. */
export function remoteMemories(ask: AskRemote): MemoryService {
  async function search(query: InProjects<MemorySearch> & SearchForm & { trusted?: true }): Promise<FoundMemories> {
    const { query: words, limit, project, weak, excerptLength, trusted, ...filters } = query
    const found = await each(project, (one) =>
      ask({
        method: 'POST',
        path: '/api/memory/search',
        body: {
          query: words,
          limit,
          filters: { ...filters, project: one },
          weak,
          excerpt_length: excerptLength,
          trusted,
        },
        reply: Found,
      }),
    )
    const results = distinct(found.flatMap((part) => part.results).sort((a, b) => b.score - a.score))
    const strong = results.filter((result) => !result.weak)
    const others = results.filter((result) => result.weak).slice(0, Math.max(0, (weak ?? 0) - strong.length))
    const total = Math.max(...found.map((part) => part.total))
    return { results: [...strong, ...others].slice(0, limit), total, mode: found[0]?.mode ?? 'lexical' }
  }

  return {
    async store(input) {
      return ask({ method: 'POST', path: '/api/memory', body: input, reply: Stored })
    },
    async recall({ key, namespace, project, version }) {
      const found = await each(project, (one) => recallAt(ask, { key, namespace, project: one, version }))
      const projects = [...[project ?? []].flat(), null]
      const [memory = null] = projects.flatMap((one) => found.filter((each) => each?.project === one))
      return { found: memory !== null, memory, superseded_by: null }
    },
    search,
    related: (query) => search({ ...query, trusted: true }),
    recent: ({ maxBytes, ...query }) => ask({ path: '/api/memory', query, reply: Page }),
    async newest({ project, projects, limit }) {
      const pages = await each(project, (one) =>
        ask({ path: '/api/memory', query: { trusted: true, project: one, projects, limit }, reply: Page }),
      )
      const items = pages.flatMap((page) => page.items).map((memory) => ({ memory }))
      const newestFirst = items.sort((a, b) => (a.memory.updated_at < b.memory.updated_at ? 1 : -1))
      return distinct(newestFirst)
        .slice(0, limit)
        .map(({ memory }) => memory)
    },
    async keys({ start, namespace, limit }) {
      const { items } = await ask({ path: '/api/memory', query: { namespace, limit: 1000 }, reply: Page })
      return [...new Set(items.map(({ key }) => key).filter((key) => key.startsWith(start)))].sort().slice(0, limit)
    },
    async remove(id) {
      await ask({ method: 'DELETE', path: `/api/memory/${encodeURIComponent(id)}`, reply: z.undefined() })
    },
    async forget(of) {
      return (await ask({ method: 'POST', path: '/api/memory', body: { ...of, forget: true }, reply: Stored })).memory
    },
    move() {
      throw new GazewayError('validation_failed', 'Move memories of a remote Gazeway on its own machine.')
    },
    stats: () => ask({ path: '/api/memory/stats', reply: Stats }),
  }
}

/** The memory under a key, of a project or else of none; null when there is none. */
async function recallAt(
  ask: AskRemote,
  query: { key: string; namespace: string; project: string | undefined; version: number | undefined },
): Promise<Memory | null> {
  try {
    return (await ask({ path: '/api/memory/recall', query, reply: z.object({ memory: Memory }) })).memory
  } catch (error) {
    if (error instanceof GazewayError && error.code === 'not_found') return null
    throw error
  }
}

/** Asks for each of some projects, or once for none. A question for a project is answered with memories of none too. */
function each<T>(
  project: string | readonly string[] | null | undefined,
  work: (project: string | undefined) => Promise<T>,
): Promise<T[]> {
  const projects = [project ?? []].flat()
  return Promise.all((projects.length === 0 ? [undefined] : projects).map(work))
}

function distinct<Result extends { memory: Memory }>(results: readonly Result[]): Result[] {
  return [...new Map(results.map((result) => [result.memory.id, result])).values()]
}
