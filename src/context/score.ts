import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileAttention } from './file-attention.ts'
import { layoutOf } from './folder-structure.ts'
import { type InterestTerms, interestOf } from './interest.ts'
import type { ProjectTree } from './project-tree.ts'

/** A file with its signals and interest. */
export interface ScoredFile {
  path: string
  /** Number of folders above it. */
  depth: number
  terms: InterestTerms
  interest: number
  attention: FileAttention | null
  /** Uncommitted state; null when clean. */
  change: string | null
  /** The passages that match the query, best first. */
  passages: ReadonlyArray<{ from: number; to: number }>
}

/** Maximum number of files of a commit that counts. Larger commits are imports, renames or reformats. */
const BULK_COMMIT = 100

/** Maximum number of changed files whose age is read; the others count as old. */
const AGED_CHANGES = 2_000

/** Signals of interest, by path. */
export interface Signals {
  attention: ReadonlyMap<string, FileAttention>
  /** Distance of a file from the focus; null without a focus. */
  distance: ((path: string) => number | null) | null
  /** Match of a file with the query, see {@link InterestTerms}. */
  match: ReadonlyMap<string, number>
  /** See {@link InterestTerms}. */
  referred: ReadonlyMap<string, number>
}

/** Scores the files of the tree that have a signal. Returns them in the tree's order. */
export async function scoreFiles(
  root: string,
  tree: ProjectTree,
  signals: Signals & { now: Date },
): Promise<ScoredFile[]> {
  const { attention, distance, match, referred, now } = signals
  const { places, landmarks } = layoutOf(tree.files)
  const ages = await changeAges(root, tree.changes, now)
  const ranks = commitRanks(tree.commits)
  const near = distance === null ? [] : tree.files.filter((path) => distance(path) !== null)
  const named = [attention, ages, ranks, match, referred].flatMap((signal) => [...signal.keys()])
  const listed = [...new Set([...named, ...near, ...landmarks])].filter((path) => places.has(path))
  const isLandmark = new Set(landmarks)
  const placeOf = (path: string) => places.get(path) ?? 0
  return listed
    .sort((a, b) => placeOf(a) - placeOf(b))
    .map((path) => {
      const attended = attention.get(path) ?? null
      const terms: InterestTerms = {
        dwellMs: attended?.decayedMs ?? 0,
        changeAgeMs: ages.get(path) ?? null,
        commitRanks: ranks.get(path) ?? [],
        focusDistance: distance?.(path) ?? null,
        match: match.get(path) ?? 0,
        referred: referred.get(path) ?? 0,
        landmark: isLandmark.has(path),
      }
      return scored(path, terms, { attention: attended, change: tree.changes.get(path) ?? null })
    })
}

/** Creates the score of a file without signals. */
export function unremarkable(path: string): ScoredFile {
  const terms = { dwellMs: 0, changeAgeMs: null, commitRanks: [], focusDistance: null, match: 0, referred: 0 }
  return scored(path, { ...terms, landmark: false }, { attention: null, change: null })
}

function scored(path: string, terms: InterestTerms, known: Pick<ScoredFile, 'attention' | 'change'>): ScoredFile {
  return { path, depth: depthOf(path), terms, interest: interestOf(terms), ...known, passages: [] }
}

/** Sort order: most interesting first, then fewest folders above. The sort is stable. */
export function byInterest(a: ScoredFile, b: ScoredFile): number {
  return b.interest - a.interest || a.depth - b.depth
}

async function changeAges(root: string, changes: Map<string, string>, now: Date): Promise<Map<string, number>> {
  const paths = [...changes.keys()]
  const aged = await Promise.all(
    paths.slice(0, AGED_CHANGES).map(async (path) => {
      // A deleted file has no modification time.
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
