import { hasDigit, typosBetween } from './typos.ts'

/** A word of the vocabulary, and how many memories hold it. */
export interface IndexedWord {
  term: string
  doc: number
}

/** A word of the vocabulary and how many typos lie between it and another. */
export interface NearWord extends IndexedWord {
  typos: number
}

/** The `candidates` without digits within `most` typos of `word`: the nearest first, then the most frequent. */
export function nearest(word: string, most: number, candidates: readonly IndexedWord[]): NearWord[] {
  const distinct = [...new Map(candidates.map((candidate) => [candidate.term, candidate])).values()]
  return distinct
    .filter(({ term }) => !hasDigit(term))
    .map(({ term, doc }) => ({ term, doc, typos: typosBetween(word, term, most) }))
    .filter(({ typos }) => typos <= most)
    .sort((a, b) => a.typos - b.typos || b.doc - a.doc)
}
