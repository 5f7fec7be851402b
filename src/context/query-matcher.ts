import { fold, isUnspaced, queryWords, wordsOf } from '../text/words.ts'

const WORDS = 24
const STOP = new Set(
  'the a an and or of to in on for with is are was be it this that how what why where which when who do does did i we you my our me can should from by at as not please fix add make find show'.split(
    ' ',
  ),
)
/** A word inside a longer one ("auth" in "oauthclient") counts for this much of a whole one. */
const PARTIAL = 0.6
/** A word in a file's text counts for this much of one in its path. */
const IN_TEXT = 0.7

/** `text` with camelCase taken apart. */
const apart = (text: string): string => text.normalize('NFC').replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')

/** A query, made ready to match paths and texts. Every match is a share of the query, 0–1. */
export interface QueryMatcher {
  matchPath(path: string): number
  /** The share found in `text`, and the line (from 1) that has most of it. */
  matchText(text: string): { match: number; line: number }
}

/**
 * A matcher for `query` over a project's paths; null when the query has no word to look for. Words are those of the memory
 * search: without case and accents, and of scripts without spaces each pair of characters.
 *
 * Words count by their rarity in the paths, ln(1 + N / (1 + df)): inverse document frequency (Spärck Jones, "A statistical
 * interpretation of term specificity", 1972), so that "src" does not outvote "ledger". At most 24 words are used.
 */
export function createQueryMatcher(query: string, paths: readonly string[]): QueryMatcher | null {
  const words = queryWords(apart(query), Number.POSITIVE_INFINITY)
    .filter((word) => (word.length > 1 && !STOP.has(word)) || isUnspaced(word))
    .map((word) => word.replace(' ', ''))
    .slice(0, WORDS)
  if (words.length === 0) return null
  const frequencies = words.map(() => 0)
  for (const path of paths) {
    const folded = fold(path)
    words.forEach((word, i) => {
      if (folded.includes(word)) frequencies[i] = (frequencies[i] ?? 0) + 1
    })
  }
  const raw = frequencies.map((frequency) => Math.log(1 + paths.length / (1 + frequency)) || 1)
  const total = raw.reduce((sum, weight) => sum + weight, 0)
  const terms = words.map((word, i) => ({ word, share: (raw[i] ?? 0) / total, isPair: isUnspaced(word) }))

  function matchPath(path: string): number {
    const folded = fold(path)
    const found = terms.filter(({ word }) => folded.includes(word))
    if (found.length === 0) return 0
    const whole = new Set(Array.from(wordsOf(apart(path)), (word) => word.text))
    return found.reduce((sum, { word, share, isPair }) => {
      if (isPair || whole.has(word)) return sum + share
      return word.length > 2 ? sum + share * PARTIAL : sum
    }, 0)
  }

  function shareIn(folded: string): number {
    return terms.reduce((sum, { word, share }) => (folded.includes(word) ? sum + share : sum), 0)
  }

  function matchText(text: string): { match: number; line: number } {
    const folded = fold(text)
    const match = shareIn(folded) * IN_TEXT
    if (match === 0) return { match, line: 1 }
    const shares = folded.split('\n').map(shareIn)
    return { match, line: shares.indexOf(Math.max(...shares)) + 1 }
  }

  return { matchPath, matchText }
}
