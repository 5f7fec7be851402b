import { giveWay } from '../wire/give-way.ts'
import { createScorer, type Match } from './bm25.ts'
import { markOf } from './marks.ts'
import { meaningOf } from './meaning.ts'
import type { MemoryWords } from './memory-words.ts'
import type { Term } from './term.ts'
import type { Candidate, TextFilter, TextIndex, Wanted } from './text-index.ts'

/** Matches that are counted. */
const MOST_COUNTED = 1000
/** Candidates of one lookup: each costs some microseconds. */
const MOST_CANDIDATES = 250
/** Memories that may be gathered by any one word, so that the newest of them are not all that is ranked. */
const MOST_GATHERED = 1000
/** Words of long values that are read for one search. */
const MOST_READ = 500_000
/** The share of what a query asks for that a memory has to have. */
const FLOOR = 0.4

/** A memory found, by its row. */
export interface Hit {
  seq: number
  /** In (0, 1). */
  score: number
}

/** Result of a search: memories with scores, best first, and the words searched for. */
export interface Found {
  hits: Hit[]
  total: number
  spellings: string[]
}

/** Scope of a search: the memories of a space that pass the filter, and the number in the space. */
export interface SearchScope {
  filter: TextFilter
  held: number
  /** Words of a value, on average. */
  averageWords: number
}

/**
 * Searches by words: `meaningOf` says what they stand for, the index gathers a bounded number of candidates, and `createScorer` ranks
 * them. A memory is found when it has two fifths of what the query asks for, by the importance of its words.
 */
export function createSearch(index: TextIndex, words: MemoryWords) {
  return async function search(query: string, scope: SearchScope, limit: number): Promise<Found> {
    const { filter, held } = scope
    const terms = await meaningOf(query, { words, space: filter.space, held })
    const known = terms.filter((term) => term.words.size > 0)
    if (known.length === 0) return { hits: [], total: 0, spellings: [] }
    const { candidates, isWhole } = await gather(index, known, filter)
    const [{ hits, unread }, counted] = await Promise.all([
      rank(index, candidates, { terms, scope }),
      isWhole ? 0 : index.count(everyWord(known), filter, MOST_COUNTED),
    ])
    const ranked = hits.length + unread
    return {
      hits: hits.slice(0, limit),
      total: Math.min(MOST_COUNTED, Math.max(ranked, counted)),
      spellings: spellingsOf(known),
    }
  }
}

/**
 * The memories that may match best: those with all the words, those with any of the rarest, as many as can be ranked
 * together, and where there are more, those with words in key and tags; the newest of each.
 */
async function gather(index: TextIndex, terms: readonly Term[], filter: TextFilter) {
  const telling = tellingOf(terms)
  const some = await index.candidates(anyWord(telling), filter, MOST_CANDIDATES)
  const isWhole = telling.length === terms.length && some.length < MOST_CANDIDATES
  if (isWhole) return { candidates: some, isWhole }
  const [whole, named] = await Promise.all([
    terms.length === 1 ? [] : index.candidates(everyWord(terms), filter, MOST_CANDIDATES),
    index.candidates({ ...anyWord(terms), where: 'in key or tags' }, filter, MOST_CANDIDATES),
  ])
  const bySeq = new Map([...whole, ...named, ...some].map((candidate) => [candidate.seq, candidate]))
  return { candidates: [...bySeq.values()], isWhole }
}

/** The rarest terms, as many as few enough memories have; always at least one. */
function tellingOf(terms: readonly Term[]): Term[] {
  let gathered = 0
  return [...terms]
    .sort((a, b) => a.memories - b.memories)
    .filter(({ memories }, i) => {
      gathered += memories
      return i === 0 || gathered <= MOST_GATHERED
    })
}

const groupsOf = (terms: readonly Term[]) => terms.map(({ words }) => [...words.keys()])
const anyWord = (terms: readonly Term[]): Wanted => ({ match: 'any', groups: groupsOf(terms), where: 'everywhere' })
const everyWord = (terms: readonly Term[]): Wanted => ({ match: 'all', groups: groupsOf(terms), where: 'everywhere' })

/** Ranks candidates; `unread` is how many long values were more than one search reads: they are counted, and not shown. */
async function rank(
  index: TextIndex,
  candidates: readonly Candidate[],
  { terms, scope: { filter, averageWords } }: { terms: readonly Term[]; scope: SearchScope },
): Promise<{ hits: Hit[]; unread: number }> {
  const scoreOf = createScorer(terms, { averageWords, mark: markOf(filter.space) })
  const hits: Hit[] = []
  let room = MOST_READ
  let unread = 0
  for (const candidate of candidates) {
    await giveWay()
    if (candidate.value_text === null && candidate.words > room) {
      unread++
      continue
    }
    if (candidate.value_text === null) room -= candidate.words
    const value_text = candidate.value_text ?? (await index.longText(candidate.seq))
    if (value_text === undefined) continue
    const match = scoreOf({ ...candidate, value_text })
    if (isAboveFloor(match)) hits.push({ seq: candidate.seq, score: Number(match.score.toFixed(4)) })
  }
  return { hits: hits.sort((a, b) => b.score - a.score || b.seq - a.seq), unread }
}

const isAboveFloor = ({ coverage }: Match): boolean => coverage >= FLOOR

/** The words that were looked for, those first that tell most. */
const spellingsOf = (terms: readonly Term[]): string[] =>
  [...terms].sort((a, b) => b.importance - a.importance).flatMap(({ words }) => [...words.keys()])
