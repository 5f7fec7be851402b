import { yieldToEventLoop } from '../../wire/yield-to-event-loop.ts'
import type { MemoryWords } from '../words/memory-words.ts'
import { markOf } from '../words/placeholders.ts'
import { meaningOf } from '../words/query-terms.ts'
import { createScorer, type Match } from '../words/scorer.ts'
import type { Term } from '../words/search-term.ts'
import type { Candidate, TextIndex } from '../words/text-index.ts'
import type { TextFilter, Wanted } from '../words/text-matcher.ts'

/** Maximum number of matches that are counted. */
const MAX_COUNTED = 1000
/** Maximum number of candidates with any of the rarest words; each costs some microseconds. */
const MAX_CANDIDATES = 250
/**
 * Maximum number of candidates with all words, and of those with words in key or tags. More than a search returns, so
 * that the best of these are not missed.
 */
const MAX_LIKELY = 128
/** Maximum number of memories that one word adds as candidates. Beyond it, only the newest would be ranked. */
const MAX_GATHERED = 1000
/** Number of words by which the first lookup finds memories with all words. */
const RAREST = 3
/** Maximum number of words of long values that one search reads. */
const MAX_READ = 500_000
/** Smallest share of the query's importance that a memory needs to answer it. */
const FLOOR = 0.4

/** A found memory, by the number of its row. */
export interface Hit {
  seq: number
  /** In (0, 1). */
  score: number
}

/** Result of a search: memories with scores, best first, and the words searched for. */
export interface Found {
  hits: Hit[]
  /** Memories below the floor: they have some words of the query, but too few to answer it. */
  weak: Hit[]
  total: number
  spellings: string[]
}

/** Scope of a search: the memories of a space that pass the filter, and the number in the space. */
export interface SearchScope {
  filter: TextFilter
  held: number
  /** Average number of words of a value. */
  averageWords: number
}

/** Projects of a space, and the scope in them, which is read while the query is expanded. */
interface Within extends Pick<TextFilter, 'space' | 'project'> {
  scope: Promise<SearchScope>
}

/**
 * Creates the search by words. `meaningOf` expands the query, the index finds a bounded number of candidates, and
 * `createScorer` ranks them. Memories with less than two fifths of the query, by the importance of its words, are weak.
 */
export function createSearch(index: TextIndex, words: MemoryWords) {
  return async function search(query: string, within: Within, limit: number): Promise<Found> {
    const { space } = within
    // Round trips of one search are most of its time on PostgreSQL, so independent lookups run together.
    const [terms, scope] = await Promise.all([
      meaningOf(query, { words, space, held: within.scope.then(({ held }) => held) }),
      within.scope,
      index.prepare(within),
    ])
    const { filter } = scope
    const known = terms.filter((term) => term.words.size > 0)
    if (known.length === 0) return { hits: [], weak: [], total: 0, spellings: [] }
    const { whole, named, some, hasMore } = gather(index, known, filter)
    const [{ hits, weak, unread }, matching] = await Promise.all([
      rank(index, [whole, named, some], { terms, scope }),
      countBeyond(index, hasMore, { terms: known, filter }),
      // Ranking awaits the sources one by one, so a failure of a later source would be unhandled.
      named,
      some,
    ])
    const ranked = hits.length + unread
    return {
      hits: hits.slice(0, limit),
      weak: weak.slice(0, limit),
      total: Math.min(MAX_COUNTED, Math.max(ranked, matching)),
      spellings: spellingsOf(known),
    }
  }
}

/** Lookups in progress. */
interface Sources {
  whole: Promise<Candidate[]>
  named: Promise<Candidate[]>
  some: Promise<Candidate[]>
  /** True when more memories have all the words. */
  hasMore: Promise<boolean>
}

/**
 * Finds the candidates that may match best, the newest of each kind:
 *
 * - memories with all words
 * - memories with any of the rarest words, up to the number that can be ranked together
 * - if there are more, or more of them than can be read, memories with words in key or tags
 */
function gather(index: TextIndex, terms: readonly Term[], filter: TextFilter): Sources {
  const telling = tellingOf(terms)
  const readSome = (some: readonly Term[]) => index.candidates(anyWord(some), filter, MAX_CANDIDATES)
  const readLikely = (wanted: Wanted) => index.candidates(wanted, filter, MAX_LIKELY)
  const readNamed = () => readLikely({ ...anyWord(terms), where: 'in key or tags' })
  if (telling.length < terms.length)
    return withMore({ whole: readWhole(readLikely, terms), named: readNamed(), some: readSome(telling) })
  if (terms.length === 1 && telling[0] && telling[0].memories >= MAX_CANDIDATES)
    return gatherFrequent(readNamed(), () => readSome(terms))
  const some = readSome(terms)
  const unlessAll = (more: () => Promise<Candidate[]>) =>
    some.then((all) => (all.length < MAX_CANDIDATES && longWords(all) <= MAX_READ ? [] : more()))
  const named = unlessAll(readNamed)
  if (terms.length === 1) return { whole: some, named, some, hasMore: isFull(some, MAX_CANDIDATES) }
  return withMore({ whole: unlessAll(() => readWhole(readLikely, terms)), named, some })
}

/**
 * Finds candidates for a single frequent word. Memories with it in key or tags rank first; others are read only when
 * these are few.
 */
function gatherFrequent(named: Promise<Candidate[]>, readAny: () => Promise<Candidate[]>): Sources {
  const some = named.then(({ length }) => (length < MAX_LIKELY ? readAny() : []))
  const hasMore = Promise.all([named, some]).then(
    ([these, any]) => these.length === MAX_LIKELY || any.length === MAX_CANDIDATES,
  )
  return { whole: some, named, some, hasMore }
}

const withMore = (sources: Omit<Sources, 'hasMore'>): Sources => ({
  ...sources,
  hasMore: isFull(sources.whole, MAX_LIKELY),
})

/** Number of words of the long values, which are read one by one. */
const longWords = (candidates: readonly Candidate[]): number =>
  candidates.reduce((sum, { words, value_text }) => (value_text === null ? sum + words : sum), 0)

const isFull = (source: Promise<Candidate[]>, limit: number): Promise<boolean> =>
  source.then(({ length }) => length === limit)

/** Finds memories with all words. Few memories share the rarest words, so a lookup by those alone is tried first. */
async function readWhole(read: (wanted: Wanted) => Promise<Candidate[]>, terms: readonly Term[]): Promise<Candidate[]> {
  const rarest = byRarity(terms).slice(0, RAREST)
  const sharing = await read(everyWord(rarest))
  const isEnough = sharing.length < MAX_LIKELY || rarest.length === terms.length
  return isEnough ? sharing : read(everyWord(terms))
}

/** Counts the memories with all words; 0 when all of them are ranked. */
async function countBeyond(
  index: TextIndex,
  hasMore: Promise<boolean>,
  { terms, filter }: { terms: readonly Term[]; filter: TextFilter },
): Promise<number> {
  return (await hasMore) ? index.count(everyWord(terms), filter, MAX_COUNTED) : 0
}

const byRarity = (terms: readonly Term[]): Term[] => [...terms].sort((a, b) => a.memories - b.memories)

/** Selects the rarest terms, as long as few enough memories hold them; at least one. */
function tellingOf(terms: readonly Term[]): Term[] {
  let gathered = 0
  return byRarity(terms).filter(({ memories }, i) => {
    gathered += memories
    return i === 0 || gathered <= MAX_GATHERED
  })
}

const groupsOf = (terms: readonly Term[]) => terms.map(({ words }) => [...words.keys()])
const anyWord = (terms: readonly Term[]): Wanted => ({ match: 'any', groups: groupsOf(terms), where: 'everywhere' })
const everyWord = (terms: readonly Term[]): Wanted => ({ match: 'all', groups: groupsOf(terms), where: 'everywhere' })

/**
 * Ranks candidates as they are read. `unread`: number of candidates with long values beyond the limit of one search.
 * They count as matches but are not results.
 */
async function rank(
  index: TextIndex,
  sources: ReadonlyArray<Promise<Candidate[]>>,
  { terms, scope: { filter, averageWords } }: { terms: readonly Term[]; scope: SearchScope },
): Promise<{ hits: Hit[]; weak: Hit[]; unread: number }> {
  const scoreOf = createScorer(terms, { averageWords, mark: markOf(filter.space) })
  const seen = new Set<number>()
  const hits: Hit[] = []
  const weak: Hit[] = []
  let room = MAX_READ
  let unread = 0
  for (const source of sources)
    for (const candidate of await source) {
      await yieldToEventLoop()
      if (seen.has(candidate.seq)) continue
      seen.add(candidate.seq)
      if (candidate.value_text === null && candidate.words > room) {
        unread++
        continue
      }
      if (candidate.value_text === null) room -= candidate.words
      const value_text = candidate.value_text ?? (await index.longText(candidate.seq))
      if (value_text === undefined) continue
      const match = scoreOf({ ...candidate, value_text })
      const found = isAboveFloor(match) ? hits : weak
      found.push({ seq: candidate.seq, score: Number(match.score.toFixed(4)) })
    }
  return { hits: hits.sort(bestFirst), weak: weak.sort(bestFirst), unread }
}

const bestFirst = (a: Hit, b: Hit): number => b.score - a.score || b.seq - a.seq

const isAboveFloor = ({ coverage }: Match): boolean => coverage >= FLOOR

/** Words that were searched, the most important first. */
const spellingsOf = (terms: readonly Term[]): string[] =>
  [...terms].sort((a, b) => b.importance - a.importance).flatMap(({ words }) => [...words.keys()])
