import type { StoredWord } from './memory-words.ts'
import { hasDigit, typosBetween } from './typos.ts'

/** A word of memories, and its number of typos compared to another word. */
export interface FuzzyMatch extends StoredWord {
  typos: number
}

/** Selects the `candidates` without digits within `most` typos of `word`, nearest first, then most frequent. */
export function fuzzyMatches(word: string, most: number, candidates: readonly StoredWord[]): FuzzyMatch[] {
  const distinct = [...new Map(candidates.map((candidate) => [candidate.word, candidate])).values()]
  return distinct
    .filter((candidate) => !hasDigit(candidate.word))
    .map((candidate) => ({ ...candidate, typos: typosBetween(word, candidate.word, most) }))
    .filter(({ typos }) => typos <= most)
    .sort((a, b) => a.typos - b.typos || b.memories - a.memories || (a.word < b.word ? -1 : 1))
}
