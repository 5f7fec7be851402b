import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileAttention } from './file-attention.ts'
import { type InterestTerms, interestOf } from './interest.ts'
import type { ProjectTree } from './tree.ts'

/** A file with what makes it interesting. */
export interface ScoredFile {
  path: string
  /** Folders above it. */
  depth: number
  terms: InterestTerms
  interest: number
  attention: FileAttention | null
  /** Uncommitted state; null when clean. */
  change: string | null
  /** The passage that matches the query, with the match of its file (0–1). */
  passage: { from: number; to: number; match: number } | null
}

const LANDMARK =
  /^(readme|contributing|architecture)(\.\w+)?$|^(agents|claude)\.md$|^(package|composer|deno)\.json$|^(pyproject|cargo)\.toml$|^go\.mod$|^pom\.xml$|^build\.gradle(\.kts)?$|^gemfile$|^makefile$|^dockerfile$/i

/** A commit of more files than this is an import, a rename or a reformat: it says nothing about any one of them. */
const BULK_COMMIT = 100

/** Changed files whose age is looked up; beyond it they count as old. */
const AGED_CHANGES = 2_000

/** Every file of the tree with its interest. */
export async function scoreFiles(
  root: string,
  tree: ProjectTree,
  signals: {
    attention: Map<string, FileAttention>
    distance: (path: string) => number | null
    /** The share of the query that a file has, see {@link InterestTerms}. */
    match: (path: string) => number
    /** See {@link InterestTerms}. */
    referred: (path: string) => number
    now: Date
  },
): Promise<ScoredFile[]> {
  const ages = await changeAges(root, tree.changes, signals.now)
  const ranks = commitRanks(tree.commits)
  return tree.files.map((path) => {
    const attention = signals.attention.get(path) ?? null
    const terms: InterestTerms = {
      dwellMs: attention?.decayedMs ?? 0,
      changeAgeMs: ages.get(path) ?? null,
      commitRanks: ranks.get(path) ?? [],
      focusDistance: signals.distance(path),
      match: signals.match(path),
      referred: signals.referred(path),
      landmark: LANDMARK.test(path),
    }
    return {
      path,
      depth: depthOf(path),
      terms,
      interest: interestOf(terms),
      attention,
      change: tree.changes.get(path) ?? null,
      passage: null,
    }
  })
}

/** Most interesting first, then the shallowest; equal ones stay in the order of the tree. */
export function byInterest(a: ScoredFile, b: ScoredFile): number {
  return b.interest - a.interest || a.depth - b.depth
}

async function changeAges(root: string, changes: Map<string, string>, now: Date): Promise<Map<string, number>> {
  const paths = [...changes.keys()]
  const aged = await Promise.all(
    paths.slice(0, AGED_CHANGES).map(async (path) => {
      // A deleted file has no time of its own.
      const info = await lstat(join(root, path)).catch(() => null)
      return [path, info ? now.getTime() - info.mtimeMs : Number.POSITIVE_INFINITY] as const
    }),
  )
  const rest = paths.slice(AGED_CHANGES).map((path) => [path, Number.POSITIVE_INFINITY] as const)
  return new Map([...aged, ...rest])
}

function commitRanks(commits: readonly string[][]): Map<string, number[]> {
  const ranks = new Map<string, number[]>()
  commits.forEach((files, rank) => {
    if (files.length > BULK_COMMIT) return
    for (const path of files) {
      const known = ranks.get(path)
      if (known) known.push(rank)
      else ranks.set(path, [rank])
    }
  })
  return ranks
}

function depthOf(path: string): number {
  let depth = 0
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) depth++
  return depth
}
