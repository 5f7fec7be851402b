import { definitionsIn } from './definitions.ts'
import type { QueryTerms } from './query-terms.ts'
import { eachRun, termsOfRun } from './terms.ts'

/** Maximum number of lines of a definition that are shown, and lines around a match outside of definitions. */
const DEFINITION_LINES = 24
const AROUND = 5
/** Lines below a definition's first line that count for its match. */
const BODY = 10
/** Factor for a term in a definition's name, relative to its text. */
const IN_NAME = 2
/** Maximum number of comment lines above a definition that are shown with it. */
const COMMENT_LINES = 8
const COMMENT = /^\s*(?:\/\/|\/\*|\*|#|--|;;|"""|@)/

/** Lines of a file, from 1, both included. */
export interface Passage {
  from: number
  to: number
}

/**
 * Returns a function that finds the best passage of a text: a definition, or the lines around a match. Null for no
 * match.
 */
export function createPassageFinder(query: QueryTerms): (text: string, path: string) => Passage | null {
  const maskOf = createMasks(query)
  return (text, path) => passageIn(text, path, { maskOf, count: query.terms.length })
}

function passageIn(
  text: string,
  path: string,
  { maskOf, count }: { maskOf: (text: string) => number; count: number },
): Passage | null {
  const lines = text.split('\n')
  const masks = lines.map(maskOf)
  const weights = rarity(masks, count)
  const weigh = (mask: number) => weights.reduce((sum, weight, t) => (mask & (1 << t) ? sum + weight : sum), 0)
  const within = (from: number, to: number) => weigh(masks.slice(from, to).reduce((all, mask) => all | mask, 0))
  if (masks.every((mask) => mask === 0)) return null

  const definitions = definitionsIn(text, path)
  let best = { weight: 0, at: 0, end: null as number | null }
  definitions.forEach(({ name, line }, i) => {
    const next = (definitions[i + 1]?.line ?? lines.length + 1) - 1
    const end = Math.max(line, Math.min(next, line + DEFINITION_LINES - 1))
    const weight = IN_NAME * weigh(maskOf(name)) + within(line - 1, Math.min(end, line + BODY))
    if (weight > best.weight) best = { weight, at: line, end }
  })
  masks.forEach((mask, i) => {
    if (mask === 0) return
    const weight = within(Math.max(0, i - AROUND), i + AROUND + 1) + weigh(mask) / 2
    if (weight > best.weight) best = { weight, at: i + 1, end: null }
  })
  if (best.end === null) return { from: Math.max(1, best.at - AROUND), to: Math.min(lines.length, best.at + AROUND) }
  return { from: withComment(lines, best.at), to: best.end }
}

/** Returns a function that maps a text to a bit mask of the query terms in it. */
function createMasks({ terms }: QueryTerms): (text: string) => number {
  const bits = new Map(terms.map((term, t) => [term, 1 << t]))
  const known = new Map<string, number>()
  return function maskOf(text) {
    let mask = 0
    eachRun(text, (run) => {
      let found = known.get(run)
      if (found === undefined) {
        found = bitsOf(run)
        known.set(run, found)
      }
      mask |= found
    })
    return mask
  }

  function bitsOf(run: string): number {
    const { parts, whole } = termsOfRun(run)
    return [...parts, whole ?? ''].reduce((mask, term) => mask | (bits.get(term) ?? 0), 0)
  }
}

/** Rarity of each term in the text: terms on fewer lines weigh more. */
function rarity(masks: readonly number[], count: number): number[] {
  return Array.from({ length: count }, (_, t) => {
    const holders = masks.reduce((sum, mask) => (mask & (1 << t) ? sum + 1 : sum), 0)
    return holders === 0 ? 0 : Math.log(1 + masks.length / holders)
  })
}

/** Returns the first line of the comment directly above a line, or the line itself. */
function withComment(lines: readonly string[], line: number): number {
  let from = line
  while (from > 1 && line - from < COMMENT_LINES && COMMENT.test(lines[from - 2] ?? '')) from--
  return from
}
