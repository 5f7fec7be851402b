import { isCommon } from '../text/common-words.ts'
import { isUnspaced } from '../text/words.ts'

/** Memories that every store is taken to hold besides its own: a small one says little about which words are rare. */
const ASSUMED = 1000
/** Factor of a common question word, compared to another that is as rare in the store. */
const COMMON = 0.3
/** Words that stand for one of a query. */
const MOST_WORDS = 32

/** A word of memories that matches a word of a query. Its weight is in (0, 1]; `memories` is how many hold it. */
export interface Alternative {
  word: string
  weight: number
  memories: number
}

/** A word of a query. */
export interface Term {
  /** As it is asked. */
  text: string
  /** Information that a match with it gives, above zero. */
  importance: number
  /** Upper bound of the memories that contain it. */
  memories: number
  /** Weights of the matching words; empty when no memory holds a similar word. */
  words: ReadonlyMap<string, number>
}

/**
 * A word of a query and what stands for it, with its importance: the inverse document frequency as BM25 has it (Robertson
 * and Zaragoza 2009, section 3), in a store that is taken to be larger than it is; for words that say little a part of it.
 *
 * ```formula
 * importance = c × ln(1 + (N + 1000 − n + 0.5) / (n + 0.5))
 * ```
 *
 * @param counted those whose memories make `n`
 * @param held memories of the space, `N`
 */
export function termOf(
  text: string,
  { found, counted, held }: { found: readonly Alternative[]; counted: readonly Alternative[]; held: number },
): Term {
  const sum = counted.reduce((total, { memories }) => total + memories, 0)
  const memories = Math.min(sum, held)
  const rarity = Math.log(1 + (held + ASSUMED - memories + 0.5) / (memories + 0.5))
  const best = [...found].sort((a, b) => b.weight - a.weight || b.memories - a.memories || (a.word < b.word ? -1 : 1))
  const words = new Map<string, number>()
  for (const { word, weight } of best.slice(0, MOST_WORDS)) if (!words.has(word)) words.set(word, weight)
  return { text, importance: (saysLittle(text, memories) ? COMMON : 1) * rarity, memories, words }
}

/** Two characters in a row that no memory has are seldom a word: most are where two words meet. */
const saysLittle = (text: string, memories: number): boolean => (isUnspaced(text) ? memories === 0 : isCommon(text))
