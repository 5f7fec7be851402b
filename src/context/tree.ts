import { LRUCache } from 'lru-cache'
import { createGitReader, type GitState } from './git.ts'
import { ownFiles } from './own-files.ts'
import { isProjectFile } from './skipped.ts'
import { walk } from './walk.ts'

/** The files of a project, and what git says about them where it can. */
export interface ProjectTree {
  /** Relative to the root, forward slashes; deleted ones, too, but no links, nothing ignored. */
  files: readonly string[]
  /** Uncommitted state by path. */
  changes: Map<string, string>
  /** Git object ids of tracked files, by path; for a changed file, the id in the index. */
  objects: ReadonlyMap<string, string>
  /** The files of each recent commit, newest commit first. */
  commits: string[][]
  /** False when the project has more files than the limit. */
  complete: boolean
  /** Parts that could not be read, in plain words. */
  notes: string[]
}

/** Most files of a project that a context looks at. */
export const MOST_FILES = 50_000
/** Roots whose list of files and tree is kept. */
const ROOTS_KEPT = 2

/** A list of files, and what git said when it was made. */
interface Listing {
  tracked: GitState['tracked']
  beside: string
  files: readonly string[]
}

/**
 * Creates a reader of project trees. Reads git's index and status in a repository, and walks the folders elsewhere.
 *
 * @param options.limit how many files at most
 * @param options.dataFolder where Gazeway keeps its own files, which are left out
 */
export function createTreeReader({ limit, dataFolder = null }: { limit: number; dataFolder?: string | null }) {
  const readGit = createGitReader()
  const listings = new LRUCache<string, Listing>({ max: ROOTS_KEPT })
  const trees = new LRUCache<string, ProjectTree>({ max: ROOTS_KEPT })

  /** Lists git's files without Gazeway's own. Returns the same array until git's answer changes. */
  async function listed(root: string, { tracked, changes }: GitState): Promise<readonly string[]> {
    const beside = notInIndex(changes)
    const said = beside.join('\0')
    const known = listings.get(root)
    if (known?.tracked === tracked && known.beside === said) return known.files
    const files = [...new Set([...tracked.keys(), ...beside])].filter(isProjectFile)
    const kept = await withoutOwnFiles(root, files)
    listings.set(root, { tracked, beside: said, files: kept })
    return kept
  }

  async function withoutOwnFiles(root: string, files: readonly string[]): Promise<string[]> {
    const isOwn = await ownFiles(root, files, dataFolder)
    return files.filter((path) => !isOwn(path))
  }

  /** Returns the tree of last time where git's answer is the same, else the new one. */
  function sameOrNew(root: string, tree: ProjectTree): ProjectTree {
    const last = trees.get(root)
    if (last !== undefined && isSameTree(last, tree)) return last
    trees.set(root, tree)
    return tree
  }

  /**
   * Reads the tree. While git's answer is the same, the same object is returned, unless the tree is over the limit.
   *
   * @param attend the paths to keep although the tree is over the limit: where the person has been is not to be cut. It is
   *   called while git runs, with the tree of last time, which may be out of date; null without one.
   * @throws GazewayError `cancelled` when the signal aborts
   */
  return async function readTree(
    root: string,
    attend: (last: ProjectTree | null) => Promise<ReadonlySet<string>>,
    signal?: AbortSignal,
  ): Promise<ProjectTree> {
    let attended: ReadonlySet<string> = new Set()
    const { state: git, notes } = await readGit(root, signal, async () => {
      attended = await attend(trees.get(root) ?? null)
    })
    const known = git ? await listed(root, git) : []
    // A folder that the repository around it ignores has no files in git's eyes.
    if (git === null || known.length === 0) {
      trees.delete(root)
      const { files, complete } = await walk(root, limit, signal)
      return {
        files: await withoutOwnFiles(root, files),
        complete,
        changes: new Map(),
        objects: new Map(),
        commits: [],
        notes,
      }
    }
    const { changes, tracked: objects, commits } = git
    if (known.length <= limit)
      return sameOrNew(root, { files: known, changes, objects, commits, complete: true, notes })
    trees.delete(root)
    return { files: cut(known, limit, attended, changes), changes, objects, commits, complete: false, notes }
  }
}

function isSameTree(tree: ProjectTree, other: ProjectTree): boolean {
  return (
    tree.files === other.files &&
    tree.objects === other.objects &&
    tree.commits === other.commits &&
    tree.changes.size === other.changes.size &&
    [...tree.changes].every(([path, state]) => other.changes.get(path) === state)
  )
}

/** Untracked and deleted files: git may have removed the latter from its index. */
function notInIndex(changes: ReadonlyMap<string, string>): string[] {
  return [...changes].filter(([, state]) => state === 'untracked' || state === 'deleted').map(([path]) => path)
}

/** Attended and changed files first, then the shallowest. */
function cut(
  files: readonly string[],
  limit: number,
  attended: ReadonlySet<string>,
  changes: Map<string, string>,
): string[] {
  const rank = (path: string) => (attended.has(path) || changes.has(path) ? 0 : path.split('/').length)
  return files
    .map((path) => ({ path, rank: rank(path) }))
    .sort((a, b) => a.rank - b.rank)
    .slice(0, limit)
    .map(({ path }) => path)
}
