import { isUnspaced, queryWords } from '../text/words.ts'
import type { Alternatives, TextFilter, TextHit, TextIndex } from './text-index.ts'
import { typosAllowed } from './typos.ts'

/** Words of a query that are looked at; what follows adds cost, not meaning. */
const MOST_WORDS = 24
/** Unknown words of one query for which similar ones are looked up, each up to a few milliseconds. */
const MOST_RESPELLED = 4
const MOST_SIMILAR = 5
/** Letters of a word that is looked for as it is, where it is known: nearly everything begins with it. */
const SHORT = 2
/** A word in so many memories is looked for as it is: there is no need for more. */
const MANY = 1000
/** With fewer matches than this, memories that hold only some of the words are added. */
const FEW = 3
/** A word in more than this share of the memories does not tell them apart. */
const COMMON_SHARE = 0.2
/** … unless they are so few. */
const COMMON_COUNT = 20
/** Memories that may be gathered by any one word, so that they are all ranked. */
const MOST_GATHERED = 1000
/** The highest score of a memory that lacks words of the query. */
const PARTIAL = 0.5

/** What a search found: rows with scores in (0, 1], best first, and the spellings that were looked for. */
export interface Found {
  hits: TextHit[]
  total: number
  spellings: string[]
}

/** Which memories a search looks at: `filter`, out of `size` memories in its namespace (or in all). */
export interface SearchScope {
  filter: TextFilter
  size: number
}

/**
 * What a query means, on every engine. Each word stands for itself and what begins with it (a word of one or two
 * letters: for what begins with it only where it is itself unknown), or, where nothing does, for the words within one
 * typo (from 4 letters) or two (from 8), unless it has a digit. Memories that hold all words come first; when they are
 * fewer than 3, those that hold some of the telling words follow. Scores are relative: the best match has 1, one that
 * lacks words at most 0.5.
 */
export function createSearch(index: TextIndex) {
  async function spellings(word: string, scope: TextFilter): Promise<Alternatives> {
    const exact = [{ text: word, prefix: false }]
    const found = await index.count(exact, scope, MANY)
    if (found >= MANY || isUnspaced(word) || (found > 0 && word.length <= SHORT)) return found > 0 ? exact : []
    const begun = [{ text: word, prefix: true }]
    return found > 0 || (await index.count(begun, scope, 1)) > 0 ? begun : []
  }

  async function respell(word: string, space: number): Promise<Alternatives> {
    const typos = isUnspaced(word) ? 0 : typosAllowed(word)
    if (typos === 0) return []
    return (await index.similar(word, { space, typos, limit: MOST_SIMILAR })).map((text) => ({ text, prefix: false }))
  }

  async function understand(query: string, scope: TextFilter): Promise<Alternatives[]> {
    const words: Alternatives[] = []
    let respelled = 0
    for (const word of queryWords(query, MOST_WORDS)) {
      let alternatives = await spellings(word, scope)
      if (alternatives.length === 0 && respelled++ < MOST_RESPELLED) alternatives = await respell(word, scope.space)
      if (alternatives.length > 0) words.push(alternatives)
    }
    return words
  }

  /** The words that tell memories apart, rarest first, as many as can be ranked together; always at least one. */
  async function telling(words: readonly Alternatives[], scope: TextFilter, size: number): Promise<Alternatives[]> {
    const common = Math.max(COMMON_COUNT, COMMON_SHARE * size)
    const counted: Array<{ word: Alternatives; count: number }> = []
    for (const word of words) counted.push({ word, count: await index.count(word, scope, MOST_GATHERED + 1) })
    counted.sort((a, b) => a.count - b.count)
    let gathered = 0
    return counted
      .filter(({ count }, i) => {
        gathered += count
        return i === 0 || (count <= common && gathered <= MOST_GATHERED)
      })
      .map(({ word }) => word)
  }

  return async function search(query: string, { filter, size }: SearchScope, limit: number): Promise<Found> {
    // Words are weighed by the namespace alone: a filter by tag, project or time does not change what they mean.
    const scope = { space: filter.space, now: filter.now, namespace: filter.namespace }
    const words = await understand(query, scope)
    if (words.length === 0) return { hits: [], total: 0, spellings: [] }
    const spellingsUsed = words.flat().map((spelling) => spelling.text)

    const whole = await index.match({ match: 'all', words }, filter, limit)
    const hits = relative(whole.hits, 1)
    if (whole.total >= FEW || words.length === 1) return { hits, total: whole.total, spellings: spellingsUsed }

    const partial = await index.match({ match: 'any', words: await telling(words, scope, size) }, filter, limit)
    const seen = new Set(hits.map((hit) => hit.seq))
    const rest = relative(partial.hits, PARTIAL).filter((hit) => !seen.has(hit.seq))
    // The memories that hold all words hold the telling ones too, so `partial` counts them.
    return { hits: [...hits, ...rest].slice(0, limit), total: partial.total, spellings: spellingsUsed }
  }
}

function relative(hits: readonly TextHit[], highest: number): TextHit[] {
  const top = hits[0]?.score ?? 1
  return hits.map(({ seq, score }) => ({ seq, score: Math.max(0.0001, Number(((highest * score) / top).toFixed(4))) }))
}
