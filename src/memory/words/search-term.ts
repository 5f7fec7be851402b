import { inverseFrequency } from '../../text/bm25.ts'
import { isCommon } from '../../text/common-words.ts'
import { isUnspaced } from '../../text/words.ts'

/** Memories added to the size of every store: a small store says little about which words are rare. */
const ASSUMED = 1000
/** Factor for a common question word, compared to another word of the same rarity. */
const COMMON = 0.3
/** Maximum number of words that match one word of a query. */
const MAX_WORDS = 32

/**
 * A word of memories that matches a word of a query. Its weight is in (0, 1]; `memories` is the number that hold it.
 */
export interface Alternative {
  word: string
  weight: number
  memories: number
}

/** A word of a query. */
export interface Term {
  /** The word in the query. */
  text: string
  /** Information of a match, above zero. */
  importance: number
  /** Upper bound of the memories that contain it. */
  memories: number
  /** Weights of the matching words; empty when no memory holds a similar word. */
  words: ReadonlyMap<string, number>
}

/**
 * Creates a term: a word of a query, its matching words and its importance. The importance is the inverse document
 * frequency in a store that is 1,000 memories larger; common words count for a part of it:
 *
 * importance = c × ln(1 + (N + 1000 − n + 0.5) / (n + 0.5))
 *
 * @param counted words whose memories are summed to `n`
 * @param held number of memories in the space, `N`
 */
export function termOf(
  text: string,
  { found, counted, held }: { found: readonly Alternative[]; counted: readonly Alternative[]; held: number },
): Term {
  const sum = counted.reduce((total, { memories }) => total + memories, 0)
  const memories = Math.min(sum, held)
  const rarity = inverseFrequency(held + ASSUMED, memories)
  const best = [...found].sort((a, b) => b.weight - a.weight || b.memories - a.memories || (a.word < b.word ? -1 : 1))
  const words = new Map<string, number>()
  for (const { word, weight } of best.slice(0, MAX_WORDS)) if (!words.has(word)) words.set(word, weight)
  return { text, importance: (saysLittle(text, memories) ? COMMON : 1) * rarity, memories, words }
}

/** Tells whether a term carries little meaning. An unknown pair of characters is seldom a word: most span two words. */
const saysLittle = (text: string, memories: number): boolean => (isUnspaced(text) ? memories === 0 : isCommon(text))
