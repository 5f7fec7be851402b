import { lengthNorm, saturation } from '../../text/bm25.ts'
import { blocksIn, isComment } from './blocks.ts'
import type { QueryTerms } from './query-terms.ts'
import { eachRun, termsOfRun } from './terms.ts'

/** Lines above and below a match outside of definitions that are shown with it. */
const AROUND = 5
/** Smallest weight of a further passage, relative to the best one of its file. */
const FURTHER = 0.3
/** Factor on constants and comments, which only name what code with the same words does. */
const WITHOUT_CODE = 0.8
/** Factor for a term in a definition's name, relative to its text. */
const IN_NAME = 2
/** Lines of an average definition, for the norm of length. */
const AVERAGE_LINES = 20
/** Lines between two passages that are shown, so that both are one. */
const BETWEEN = 3
/** Fewest characters that are worth a passage. */
const LEAST_ROOM = 120

/** Fewest letters of a stem that longer words are matched with, and most letters of their ending. */
const LEAST_STEM = 4
const MOST_ENDING = 4

/** Lines of a file, from 1, both included. */
export interface Passage {
  from: number
  to: number
}

/** A passage, and the importance of the terms in it. */
type Weighed = Passage & { weight: number }

/**
 * Finds the passages of a text that answer a query, best first: whole definitions, and the lines around matches outside
 * of them, together of at most `room` characters. They do not overlap.
 */
export type PassageFinder = (text: string, path: string, room: number) => Passage[]

/** Creates a {@link PassageFinder}. */
export function createPassageFinder(query: QueryTerms): PassageFinder {
  const maskOf = createMasks(query)
  return (text, path, room) => {
    const lines = text.split('\n')
    const masks = lines.map(maskOf)
    if (masks.every((mask) => mask === 0)) return []
    const weights = rarity(masks, query.terms.length)
    const weighed = weighedPassages(text, path, { lines, masks, weights, maskOf })
    return choose(weighed, { lines, masks, weights, room })
  }
}

/** Lines of a text, the query terms in each, and the weight of each term. */
interface Searched {
  lines: readonly string[]
  masks: readonly number[]
  weights: readonly number[]
}

function weighedPassages(
  text: string,
  path: string,
  { lines, masks, weights, maskOf }: Searched & { maskOf: (text: string) => number },
): Weighed[] {
  const within = ({ from, to }: Passage) => {
    const norm = lengthNorm(to - from + 1, AVERAGE_LINES, { k1: 1.2, b: 0.5 })
    return weights.reduce((sum, weight, t) => sum + weight * saturation(holding(masks, t, from, to), norm), 0)
  }
  const blocks = blocksIn(text, path, lines)
  const defined = blocks.map(({ name, from, to, hasBody }): Weighed => {
    const weight = IN_NAME * weigh(maskOf(name), weights) + 2 * within({ from, to })
    return { from, to, weight: hasBody ? weight : weight * WITHOUT_CODE }
  })
  const covered = new Uint8Array(lines.length + 2)
  for (const { from, to, hasBody } of blocks) if (hasBody) covered.fill(1, from, to + 1)
  const around = masks.flatMap((mask, i): Weighed[] => {
    if (mask === 0 || covered[i + 1] === 1) return []
    const window = { from: Math.max(1, i + 1 - AROUND), to: Math.min(lines.length, i + 1 + AROUND) }
    const factor = isComment(lines[i] ?? '') ? WITHOUT_CODE : 1
    return [{ ...window, weight: 2 * within(window) * factor }]
  })
  return [...defined, ...around].filter(({ weight }) => weight > 0)
}

/** Chooses the best passages that fit into the room; of one that does not fit, the lines with the most matches. */
function choose(weighed: Weighed[], searched: Searched & { room: number }): Passage[] {
  const { lines } = searched
  const chosen: Weighed[] = []
  const taken = new Uint8Array(lines.length + 1)
  let room = searched.room
  for (const passage of weighed.sort((a, b) => b.weight - a.weight || a.from - b.from)) {
    if (room < LEAST_ROOM || passage.weight < FURTHER * (chosen[0]?.weight ?? 0)) break
    if (taken.subarray(passage.from, passage.to + 1).includes(1)) continue
    const fitting = densest(passage, { ...searched, room })
    room -= lengthOf(lines, fitting)
    chosen.push({ ...fitting, weight: passage.weight })
    taken.fill(1, fitting.from, fitting.to + 1)
  }
  return joined(chosen)
}

/** The run of lines of a passage that fits into the room and has the most matches; the passage itself if it fits. */
function densest(passage: Passage, { lines, masks, weights, room }: Searched & { room: number }): Passage {
  let best = { from: passage.from, to: passage.from }
  let most = -1
  let [from, length, weight] = [passage.from, 0, 0]
  for (let to = passage.from; to <= passage.to; to++) {
    length += (lines[to - 1]?.length ?? 0) + 1
    weight += weigh(masks[to - 1] ?? 0, weights)
    for (; length > room && from < to; from++) {
      length -= (lines[from - 1]?.length ?? 0) + 1
      weight -= weigh(masks[from - 1] ?? 0, weights)
    }
    if (weight >= most) {
      most = weight
      best = { from, to }
    }
  }
  return best
}

/** Joins passages between which only a few lines are missing. Best first, as they were. */
function joined(passages: readonly Weighed[]): Passage[] {
  const inOrder = [...passages].sort((a, b) => a.from - b.from)
  const found: Weighed[] = []
  for (const passage of inOrder) {
    const last = found.at(-1)
    if (last && passage.from - last.to - 1 <= BETWEEN) {
      last.to = passage.to
      last.weight = Math.max(last.weight, passage.weight)
    } else found.push({ ...passage })
  }
  return found.sort((a, b) => b.weight - a.weight || a.from - b.from).map(({ from, to }) => ({ from, to }))
}

const lengthOf = (lines: readonly string[], { from, to }: Passage): number =>
  lines.slice(from - 1, to).reduce((sum, line) => sum + line.length + 1, 0)

const weigh = (mask: number, weights: readonly number[]): number =>
  weights.reduce((sum, weight, t) => (mask & (1 << t) ? sum + weight : sum), 0)

/** Number of lines of a passage that hold a term. */
function holding(masks: readonly number[], t: number, from: number, to: number): number {
  let count = 0
  for (let at = from - 1; at < Math.min(to, masks.length); at++) if ((masks[at] ?? 0) & (1 << t)) count++
  return count
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
    return [...parts, whole ?? ''].reduce((mask, term) => mask | (bits.get(term) ?? longer(term)), 0)
  }

  /** The query's terms that a term begins with: "parser" is about parsing. */
  function longer(term: string): number {
    return terms.reduce((mask, asked, t) => {
      const isLonger = asked.length >= LEAST_STEM && term.startsWith(asked) && term.length - asked.length <= MOST_ENDING
      return isLonger ? mask | (1 << t) : mask
    }, 0)
  }
}

/** Rarity of each term in the text: terms on fewer lines weigh more. */
function rarity(masks: readonly number[], count: number): number[] {
  return Array.from({ length: count }, (_, t) => {
    const holders = masks.reduce((sum, mask) => (mask & (1 << t) ? sum + 1 : sum), 0)
    return holders === 0 ? 0 : Math.log(1 + masks.length / holders)
  })
}
