import type { ProjectTree } from '../project-tree.ts'
import { createProjectIndex, type FreshIndex, type IndexCaller } from './project-index.ts'
import { type QueryTerms, queryTerms } from './query-terms.ts'
import { rank } from './rank.ts'
import { referredFiles } from './references.ts'

/** The search results for a project. */
export interface Matches {
  /** Terms that were searched; null when nothing was searched. */
  found: QueryTerms | null
  /** Match of each file, 0–1. The best file's match is its share of the query; the others are relative to its score. */
  match: ReadonlyMap<string, number>
  /** The share of the query that a file has, 0–1, by the rarity of its terms. */
  share: ReadonlyMap<string, number>
  /** The part of each long file that matches best, see `partsOf`; the first of others. */
  part: ReadonlyMap<string, number>
  /** References to each file, 0–1, see {@link referredFiles}. */
  referred: ReadonlyMap<string, number>
  notes: string[]
}

const nothing: ReadonlyMap<string, number> = new Map()
const NONE: Omit<Matches, 'notes'> = { found: null, match: nothing, share: nothing, part: nothing, referred: nothing }
const UNSEARCHED: Matches = { ...NONE, notes: [] }

/** A query, and whether other signals exist. */
export interface Asked {
  query: string | undefined
  hasSignal: boolean
}

/**
 * Searches the index of a project for the files that match a query. Without a query and without other signals, returns
 * the files that others refer to.
 */
export function createMatcher(dataFolder: string | null) {
  const { fresh, ready } = createProjectIndex(dataFolder)

  return {
    /** Searches the current files, after the index is up to date. @throws see `createProjectIndex` */
    async search(root: string, tree: ProjectTree, { query, hasSignal }: Asked, caller: IndexCaller): Promise<Matches> {
      const terms = termsOf(query)
      return terms === null && hasSignal ? UNSEARCHED : matchesIn(await fresh(root, tree, caller), terms)
    },

    /** Searches without waiting; null when the index must be built or updated first. */
    async searchReady(root: string, tree: ProjectTree, { query, hasSignal }: Asked): Promise<Matches | null> {
      const terms = termsOf(query)
      if (terms === null && hasSignal) return UNSEARCHED
      const index = await ready(root, tree)
      return index && matchesIn(index, terms)
    },
  }
}

const termsOf = (query: string | undefined): QueryTerms | null => (query === undefined ? null : queryTerms(query))

function matchesIn({ live, notes }: FreshIndex, terms: QueryTerms | null): Matches {
  if (terms === null) return { ...NONE, referred: referredFiles(live), notes }
  const ranked = rank(live, terms)
  const best = ranked[0]
  const matchOf = (score: number) => ((best?.share ?? 0) * score) / (best?.score ?? 1)
  return {
    found: terms,
    match: new Map(ranked.map(({ path, score }) => [path, matchOf(score)])),
    share: new Map(ranked.map(({ path, share }) => [path, share])),
    part: new Map(ranked.map(({ path, part }) => [path, part])),
    referred: nothing,
    notes,
  }
}
