import { eachRun, termsOfRun } from './terms.ts'

/** Maximum number of terms of a query that count, its first ones. */
const MOST = 30
/** Characters of a long question that are read. */
const LOOKED_AT = 4_000

const STOP = new Set(
  `a about after all also an and any are as at be because been before being between both but by can could did do does
  done during each either else ever every for from further get gets had has have having he her here his how i if in
  instead into is isn it its itself just let like may me might more most must my need no nor not now of off on once one
  only or other our out over own per please put rather same shall she should so some such than that the their them then
  there these they thing this those through to too two under until up upon us use used uses using very via want was we
  were what when where whether which while who whose why will with within without would yes yet you your
  make makes made find show fix add happen happens look looks implement implemented implementation code file function
  handle handled handles work works decide decides exactly actually project repository
  don doesn didn won ll ve re`.split(/\s+/),
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
  const telling = words.filter((word) => !STOP.has(word.toLowerCase()))
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
