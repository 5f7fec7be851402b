import { queryTerms } from '../src/context/search/query-terms.ts'
import { rank } from '../src/context/search/rank.ts'
import { WEIGHTS, type Weights } from '../src/context/search/weights.ts'
import { indexOf } from './retrieval/index-of.ts'
import { FITTED } from './retrieval/questions.ts'
import { fetchRepositories } from './retrieval/repositories.ts'

/**
 * Fits the weights of the search in files, one after the other, and prints them for `src/context/search/weights.ts`.
 *
 * @example npx tsx bench/fit-context.ts
 */

const FIRST = 10
const STEPS = [0.5, 0.7, 0.85, 1.2, 1.4, 2]
/** A gain below it is chance on so few questions. */
const LEAST_GAIN = 0.005

const folders = fetchRepositories(FITTED.map(({ source }) => source))
const cases = FITTED.flatMap(({ questions }, i) => {
  const live = [indexOf(folders[i] ?? '')]
  return questions.map(({ ask, files }) => ({ live, terms: queryTerms(ask), files }))
})

/** The mean of 1 / rank of the first right file, and of whether it is among the first ten. */
function quality(weights: Weights): number {
  const each = cases.map(({ live, terms, files }) => {
    const found = terms === null ? [] : rank(live, terms, weights).map(({ path }) => path)
    const at = found.findIndex((path) => files.includes(path))
    return at === -1 ? 0 : 1 / (at + 1) + (at < FIRST ? 1 : 0)
  })
  return each.reduce((sum, value) => sum + value, 0) / each.length / 2
}

const ways: Array<(weights: Weights, by: number) => Weights> = [
  ...(['k1', 'b', 'folder', 'name', 'definition'] as const).map((name) => (weights: Weights, by: number) => ({
    ...weights,
    [name]: rounded(weights[name] * by),
  })),
  ...Object.keys(WEIGHTS.kinds).map((kind) => (weights: Weights, by: number) => ({
    ...weights,
    kinds: {
      ...weights.kinds,
      [kind]:
        rounded((weights.kinds as Record<string, number>)[kind] ?? 1) * by > 1
          ? 1
          : rounded(((weights.kinds as Record<string, number>)[kind] ?? 1) * by),
    },
  })),
]

function rounded(weight: number): number {
  return Math.round(weight * 100) / 100
}

let best = { weights: WEIGHTS, quality: quality(WEIGHTS) }
process.stderr.write(`${cases.length} questions, before: ${best.quality.toFixed(4)}\n`)
for (let improved = true; improved; ) {
  improved = false
  for (const way of ways)
    for (const by of STEPS) {
      const weights = way(best.weights, by)
      const reached = quality(weights)
      if (reached <= best.quality + LEAST_GAIN) continue
      best = { weights, quality: reached }
      improved = true
    }
}
process.stderr.write(`after: ${best.quality.toFixed(4)}\n`)
process.stdout.write(`${JSON.stringify(best.weights, null, 2)}\n`)
