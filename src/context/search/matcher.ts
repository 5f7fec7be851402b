import type { ProjectTree } from '../tree.ts'
import { createProjectIndex, type IndexCaller } from './project-index.ts'
import { type QueryTerms, queryTerms } from './query-terms.ts'
import { rank } from './rank.ts'
import { referredFiles } from './references.ts'

/** What the index says of the files of a project. */
export interface Matches {
  /** The terms that were looked for; null where nothing was. */
  found: QueryTerms | null
  /** How well files answer the query, 0–1: the best one by the share of the query that it has, others relative to it. */
  match: ReadonlyMap<string, number>
  /** The share of the query that a file has, 0–1, by the rarity of its terms. */
  share: ReadonlyMap<string, number>
  /** How many files refer to each, 0–1. */
  referred: ReadonlyMap<string, number>
  notes: string[]
}

const nothing: ReadonlyMap<string, number> = new Map()
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
    if (terms === null) return { ...NONE, referred: referredFiles(live), notes }
    const ranked = rank(live, terms)
    const best = ranked[0]
    const matchOf = (score: number) => ((best?.share ?? 0) * score) / (best?.score ?? 1)
    return {
      found: terms,
      match: new Map(ranked.map(({ path, score }) => [path, matchOf(score)])),
      share: new Map(ranked.map(({ path, share }) => [path, share])),
      referred: nothing,
      notes,
    }
  }
}
