import { isStopWord } from '../../text/stop-words.ts'
import { eachRun, termsOfRun } from './terms.ts'

/** Maximum number of terms of a query that count, its first ones. */
const MOST = 30
/** Characters of a long question that are read. */
const LOOKED_AT = 4_000

/** Words of questions about code that say little about the place of the answer. */
const OF_QUESTIONS = new Set(
  `after before during get gets instead like need one put thing two use used uses using want make makes made find show
  fix add happen happens look looks implement implemented implementation code file function handle handled handles
  work works decide decides exactly actually project repository`.split(/\s+/),
)

/** A query as index terms. Marks the terms that are whole identifiers; the parts of an identifier are terms as well. */
export interface QueryTerms {
  terms: string[]
  /** One entry per term. */
  isWhole: boolean[]
}

/** Splits a query into terms without stop words, the first 30; null when none is left. */
export function queryTerms(query: string): QueryTerms | null {
  const words: string[] = []
  eachRun(query.slice(0, LOOKED_AT), (run) => void words.push(run))
  const telling = words.filter((word) => !isStopWord(word.toLowerCase()) && !OF_QUESTIONS.has(word.toLowerCase()))
  const found = new Map<string, boolean>()
  for (const word of telling) {
    const { parts, whole } = termsOfRun(word)
    // A pair of characters replaces its two single characters.
    const pairs = parts.filter((part) => part.length > 1)
    for (const part of pairs.length > 0 ? pairs : parts) found.set(part, false)
    if (whole !== null && !found.has(whole)) found.set(whole, true)
  }
  const kept = [...found].slice(0, MOST)
  return kept.length === 0 ? null : { terms: kept.map(([term]) => term), isWhole: kept.map(([, isWhole]) => isWhole) }
}
