import type { ProjectTree } from '../tree.ts'
import { createProjectIndex, type IndexCaller } from './project-index.ts'
import { type QueryTerms, queryTerms } from './query-terms.ts'
import { rank } from './rank.ts'
import { referredFiles } from './references.ts'

/** What the index says of the files of a project. */
export interface Matches {
  /** The terms that were looked for; null where nothing was. */
  found: QueryTerms | null
  /** How well a file answers the query, 0–1: the best one by the share of the query that it has, others relative to it. */
  match: (path: string) => number
  /** How many files refer to it, 0–1. */
  referred: (path: string) => number
  notes: string[]
}

const nothing = () => 0

/** Asks the index of a project for what answers a query; without one, and where nothing else is known, for what others refer to. */
export function createMatcher(dataFolder: string | null) {
  const freshIndex = createProjectIndex(dataFolder)

  /** @throws see `createProjectIndex` */
  return async function matches(
    root: string,
    tree: ProjectTree,
    { query, hasSignal }: { query: string | undefined; hasSignal: boolean },
    caller: IndexCaller,
  ): Promise<Matches> {
    const terms = query === undefined ? null : queryTerms(query)
    if (terms === null && hasSignal) return { found: null, match: nothing, referred: nothing, notes: [] }
    const { live, notes } = await freshIndex(root, tree, caller)
    if (terms === null) {
      const files = referredFiles(live)
      return { found: null, match: nothing, referred: (path) => files.get(path) ?? 0, notes }
    }
    const ranked = rank(live, terms)
    const best = ranked[0]
    const matched = new Map(ranked.map(({ path, score }) => [path, ((best?.share ?? 0) * score) / (best?.score ?? 1)]))
    return { found: terms, match: (path) => matched.get(path) ?? 0, referred: nothing, notes }
  }
}
