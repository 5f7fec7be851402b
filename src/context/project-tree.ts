import { LRUCache } from 'lru-cache'
import { createGitReader, type GitState } from './git.ts'
import { ownFiles } from './own-files.ts'
import { isProjectFile } from './skipped.ts'
import { walk } from './walk.ts'

/** The files of a project, with git's information when available. */
export interface ProjectTree {
  /** Paths relative to the root, with forward slashes. Includes deleted files; without links and ignored files. */
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

/** Maximum number of files of a project in a context. */
export const MAX_FILES = 50_000
/** Roots whose file list and tree are cached. */
const ROOTS_KEPT = 2

/** A cached list of files, with git's answer at that time. */
interface Listing {
  tracked: GitState['tracked']
  beside: string
  inSubmodules: GitState['inSubmodules']
  files: readonly string[]
}

/**
 * Creates a reader of project trees. Reads git's index and status in a repository, and walks the folders elsewhere.
 *
 * @param options.limit most files of a tree
 * @param options.dataFolder Gazeway's data folder; its files are skipped
 */
export function createTreeReader({ limit, dataFolder = null }: { limit: number; dataFolder?: string | null }) {
  const readGit = createGitReader()
  const listings = new LRUCache<string, Listing>({ max: ROOTS_KEPT })
  const trees = new LRUCache<string, ProjectTree>({ max: ROOTS_KEPT })

  /** Lists git's files without Gazeway's own. Returns the same array until git's answer changes. */
  async function listed(root: string, { tracked, changes, inSubmodules }: GitState): Promise<readonly string[]> {
    const beside = notInIndex(changes)
    const joined = beside.join('\0')
    const known = listings.get(root)
    if (known?.tracked === tracked && known.beside === joined && known.inSubmodules === inSubmodules) return known.files
    const files = [...new Set([...tracked.keys(), ...beside, ...inSubmodules])].filter(isProjectFile)
    const kept = await withoutOwnFiles(root, files)
    listings.set(root, { tracked, beside: joined, inSubmodules, files: kept })
    return kept
  }

  async function withoutOwnFiles(root: string, files: readonly string[]): Promise<string[]> {
    const isOwn = await ownFiles(root, files, dataFolder)
    return files.filter((path) => !isOwn(path))
  }

  /** Returns the previous tree when git's answer is unchanged, else the new one. */
  function sameOrNew(root: string, tree: ProjectTree): ProjectTree {
    const last = trees.get(root)
    if (last !== undefined && isSameTree(last, tree)) return last
    trees.set(root, tree)
    return tree
  }

  /**
   * Reads the tree. Returns the same object while git's answer is unchanged, unless the tree is over the limit.
   *
   * @param attend returns paths to keep even when the tree is over the limit, so that places with attention are not
   *   cut. It is called while git runs, with the previous tree, which may be outdated (null without one)
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
    // Git lists no files in a folder that the repository around it ignores.
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
    tree.notes.join() === other.notes.join() &&
    tree.changes.size === other.changes.size &&
    [...tree.changes].every(([path, state]) => other.changes.get(path) === state)
  )
}

/** Untracked and deleted files. Git may have removed deleted files from its index. */
function notInIndex(changes: ReadonlyMap<string, string>): string[] {
  return [...changes].filter(([, state]) => state === 'untracked' || state === 'deleted').map(([path]) => path)
}

/** Cuts the list to the limit. Keeps attended and changed files first, then those with the fewest folders above. */
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
