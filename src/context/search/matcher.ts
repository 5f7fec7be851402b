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
  /** The share of the query that a file has, 0–1, by the rarity of its terms. */
  share: (path: string) => number
  /** How many files refer to it, 0–1. */
  referred: (path: string) => number
  notes: string[]
}

const nothing = () => 0
const NONE: Omit<Matches, 'notes'> = { found: null, match: nothing, share: nothing, referred: nothing }

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
    if (terms === null && hasSignal) return { ...NONE, notes: [] }
    const { live, notes } = await freshIndex(root, tree, caller)
    if (terms === null) {
      const files = referredFiles(live)
      return { ...NONE, referred: (path) => files.get(path) ?? 0, notes }
    }
    const ranked = rank(live, terms)
    const best = ranked[0]
    const matched = new Map(ranked.map((file) => [file.path, file]))
    return {
      found: terms,
      match: (path) => ((best?.share ?? 0) * (matched.get(path)?.score ?? 0)) / (best?.score ?? 1),
      share: (path) => matched.get(path)?.share ?? 0,
      referred: nothing,
      notes,
    }
  }
}
