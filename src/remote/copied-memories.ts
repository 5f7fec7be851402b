import type {
  FoundMemories,
  InProjects,
  Memory,
  MemorySearch,
  MemoryService,
  NewestQuery,
  SearchForm,
} from '../memory/memory.ts'
import { excerpt } from '../memory/search/memory-excerpt.ts'
import { inverseFrequency } from '../text/bm25.ts'
import { stemOf } from '../text/stem.ts'
import { isStopWord } from '../text/stop-words.ts'
import { distinctWords, queryWords, textOf } from '../text/words.ts'
import type { MemoryCopy } from './memory-copy.ts'

/** Share of a question, by the rarity of its words, below which a memory is a weak result. */
const FLOOR = 0.5
const MOST_WORDS = 30

/** Reads current versions of memories from the local copy, while the remote Gazeway does not answer. */
export type CopiedMemories = Pick<MemoryService, 'recall' | 'search' | 'related' | 'recent' | 'newest' | 'keys'>

/** Reads memories from a copy. Search ranks by the words that memories share with the question. */
export function copiedMemories({ memories, trusted }: MemoryCopy): CopiedMemories {
  const isTrusted = new Set(trusted)

  function search(
    { query, limit, weak = 0, excerptLength, ...of }: InProjects<MemorySearch> & SearchForm,
    among: readonly Memory[] = memories,
  ): FoundMemories {
    const words = queryWords(query, MOST_WORDS).filter((word) => !isStopWord(word))
    const held = among.filter((memory) => isMeant(memory, of)).map((memory) => ({ memory, stems: stemsOf(memory) }))
    const terms = [...new Set(words.map(stemOf))].map((stem) => {
      const holders = held.filter(({ stems }) => stems.has(stem)).length
      return { stem, weight: inverseFrequency(held.length, holders) }
    })
    const total = terms.reduce((sum, { weight }) => sum + weight, 0)
    const ranked = held
      .map(({ memory, stems }) => {
        const share = terms.reduce((sum, { stem, weight }) => (stems.has(stem) ? sum + weight : sum), 0) / (total || 1)
        const text = excerpt(textOf(memory.value), words, excerptLength)
        return { memory, score: share, weak: share < FLOOR, excerpt: text }
      })
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
    const strong = ranked.filter((result) => !result.weak)
    const results = [...strong, ...ranked.filter((result) => result.weak).slice(0, Math.max(0, weak - strong.length))]
    return { results: results.slice(0, limit), total: strong.length, mode: 'lexical' }
  }

  const newest = ({ limit, ...of }: NewestQuery): Memory[] =>
    memories.filter((memory) => isTrusted.has(memory.id) && isMeant(memory, of)).slice(0, limit)

  return {
    async recall({ key, namespace, project, version }) {
      const named = memories.filter((memory) => memory.key === key && memory.namespace === namespace)
      const places = [...[project ?? []].flat(), null]
      const memory = places.flatMap((place) => named.filter((one) => one.project === place))[0]
      const isAsked = memory !== undefined && (version ?? memory.version) === memory.version
      return { found: isAsked, memory: isAsked ? memory : null, superseded_by: null }
    },
    search: async (query) => search(query),
    related: async (query) =>
      search(
        query,
        memories.filter(({ id }) => isTrusted.has(id)),
      ),
    async recent({ limit, offset = 0, namespace, tag, project }) {
      const of = memories.filter(
        (memory) =>
          memory.namespace === (namespace ?? memory.namespace) &&
          (tag === undefined || memory.tags.includes(tag)) &&
          (project === undefined || memory.project === project),
      )
      return { items: of.slice(offset, offset + limit), total: of.length, next_cursor: null }
    },
    newest: async (query) => newest(query),
    async keys({ start, namespace, limit }) {
      const of = memories.filter((memory) => memory.namespace === (namespace ?? memory.namespace))
      return [...new Set(of.map(({ key }) => key).filter((key) => key.startsWith(start)))].sort().slice(0, limit)
    },
  }
}

type Meant = InProjects<Partial<Pick<MemorySearch, 'namespace' | 'tags' | 'projects' | 'from' | 'to'>>>

function isMeant(memory: Memory, { namespace, tags = [], projects, project, from, to }: Meant): boolean {
  const places = [...[project ?? []].flat(), null]
  return (
    memory.namespace === (namespace ?? memory.namespace) &&
    tags.every((tag) => memory.tags.includes(tag)) &&
    (projects === 'all' || places.includes(memory.project)) &&
    (from === undefined || Date.parse(memory.updated_at) >= Date.parse(from)) &&
    (to === undefined || Date.parse(memory.updated_at) <= Date.parse(to))
  )
}

const stemsOf = ({ key, tags, value }: Memory): Set<string> =>
  new Set(distinctWords(key, tags.join(' '), textOf(value)).map(stemOf))
