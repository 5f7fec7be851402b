import { definitionsIn } from './definitions.ts'
import type { QueryTerms } from './query-terms.ts'
import { eachRun, termsOfRun } from './terms.ts'

/** Maximum number of lines of a definition without a body, and lines around a match outside of definitions. */
const DEFINITION_LINES = 24
const AROUND = 5
/** Maximum number of lines of a body. */
const BODY_LINES = 200
/** Smallest weight of a further passage, relative to the best one of its file. */
const FURTHER = 0.5
/** Factor on constants and comments, which only name what code with the same words does. */
const WITHOUT_CODE = 0.8
/** Lines below a definition's first line that count for its match. */
const BODY = 10
/** Factor for a term in a definition's name, relative to its text. */
const IN_NAME = 2
/** Maximum number of comment lines above a definition that are shown with it. */
const COMMENT_LINES = 8
/** Definitions whose body has definitions of its own, which are the passages. */
const CONTAINER = /\b(?:class|interface|namespace|module|defmodule|trait|impl|object|enum|struct|package|extension)\b/
/** Lines as far out as the definition that belong to it, and those of them after which it goes on. */
const CLOSING = /^\s*(?:[)\]}{]|end\b)/
const OPENING = /[{([,:=]\s*$/
const COMMENT = /^\s*(?:\/\/|\/\*|\*|#|--|;;|"""|@)/

/** Lines of a file, from 1, both included. */
export interface Passage {
  from: number
  to: number
}

/** A passage, and the importance of the terms in it. */
type Weighed = Passage & { weight: number }

/** Finds the best passages of a text, at most `most`, which do not overlap: definitions, and the lines around matches. */
export type PassageFinder = (text: string, path: string, most: number) => Passage[]

/** Creates a finder of the passages that answer a query. */
export function createPassageFinder(query: QueryTerms): PassageFinder {
  const maskOf = createMasks(query)
  return (text, path, most) => {
    const weighed = passagesIn(text, path, { maskOf, count: query.terms.length })
    const chosen: Weighed[] = []
    for (const passage of weighed.sort((a, b) => b.weight - a.weight || a.from - b.from)) {
      if (chosen.length === most || passage.weight < FURTHER * (chosen[0]?.weight ?? 0)) break
      if (chosen.every(({ from, to }) => passage.to < from || to < passage.from)) chosen.push(passage)
    }
    return chosen.map(({ from, to }) => ({ from, to }))
  }
}

function passagesIn(
  text: string,
  path: string,
  { maskOf, count }: { maskOf: (text: string) => number; count: number },
): Weighed[] {
  const lines = text.split('\n')
  const masks = lines.map(maskOf)
  const weights = rarity(masks, count)
  const weigh = (mask: number) => weights.reduce((sum, weight, t) => (mask & (1 << t) ? sum + weight : sum), 0)
  const within = (from: number, to: number) => weigh(masks.slice(from, to).reduce((all, mask) => all | mask, 0))
  if (masks.every((mask) => mask === 0)) return []

  const definitions = definitionsIn(text, path)
  const defined = definitions.map(({ name, line }, i): Weighed => {
    const next = (definitions[i + 1]?.line ?? lines.length + 1) - 1
    const body = CONTAINER.test(lines[line - 1] ?? '') ? line : bodyEnd(lines, line)
    const end = body > line ? body : Math.max(line, Math.min(next, line + DEFINITION_LINES - 1))
    const from = withComment(lines, line)
    const weight = IN_NAME * weigh(maskOf(name)) + within(from - 1, Math.min(end, line + BODY))
    return { from, to: end, weight: body > line ? weight : weight * WITHOUT_CODE }
  })
  const around = masks.flatMap((mask, i): Weighed[] => {
    if (mask === 0) return []
    const weight = within(Math.max(0, i - AROUND), i + AROUND + 1) + weigh(mask) / 2
    const factor = COMMENT.test(lines[i] ?? '') ? WITHOUT_CODE : 1
    return [{ from: Math.max(1, i + 1 - AROUND), to: Math.min(lines.length, i + 1 + AROUND), weight: weight * factor }]
  })
  return [...defined, ...around].filter(({ weight }) => weight > 0)
}

/** Last line of a definition's body, by its indentation; the line itself when there is none. */
function bodyEnd(lines: readonly string[], line: number): number {
  const indentation = indentationOf(lines[line - 1] ?? '')
  let last = line
  for (let at = line + 1; at <= Math.min(lines.length, line + BODY_LINES); at++) {
    const text = lines[at - 1] ?? ''
    if (text.trim() === '') continue
    const isInside = indentationOf(text) > indentation
    if (!isInside && !CLOSING.test(text)) break
    last = at
    if (!isInside && !OPENING.test(text)) break
  }
  return last
}

const indentationOf = (text: string): number => text.search(/\S|$/)

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
