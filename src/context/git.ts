import { relative, sep } from 'node:path'
import { type Answer, type Checkout, git, TOO_MUCH } from '../repository/git-command.ts'
import { readFilters, readStatus } from '../repository/git-status.ts'
import { findRepository, indexVersion } from '../repository/repository.ts'
import { parseIndex, parseLog, parseStatus, parseSubmodules, parseUntracked } from './git-output.ts'
import { createSubmoduleReader } from './submodules.ts'

const COMMITS = 50
/** Commits requested from git. Commits of bots are dropped afterwards. */
const COMMITS_READ = 100
const UNKNOWN = 'changes and commits are unknown'
/** Roots whose commits and tracked files are cached. */
const ROOTS_KEPT = 8
/** The `branch.oid` of porcelain v2 before the first commit. */
const NO_COMMITS = '(initial)'

/** The git state of a root. Paths are relative to the root, with forward slashes. */
export interface GitState {
  /** Tracked files with their content hashes, without links and submodules. */
  tracked: ReadonlyMap<string, string>
  /** Uncommitted state by path: modified, added, untracked, renamed, deleted, conflicted. */
  changes: Map<string, string>
  /** Files of each commit of people, newest first, up to 50 commits. */
  commits: string[][]
  /** Tracked files of submodules. The same array until their indexes are replaced. */
  inSubmodules: readonly string[]
}

/** The result of reading the git state of a root. */
interface GitReading {
  /** Null when there is no repository, or git failed. */
  state: GitState | null
  /** Reasons why the state could not be read. */
  notes: string[]
}

interface Index {
  version: string | null
  failure: string | null
  tracked: ReadonlyMap<string, string>
  submodules: readonly string[]
}

interface History {
  head: string
  commits: string[][]
}

/**
 * Creates a reader of repository states. Caches the commits of a root until its HEAD moves, and its tracked files until
 * the index is replaced. Reads everything else each time.
 *
 * The repository is not trusted:
 * - no shell, no network, no locks
 * - nothing that its configuration names is run: file system monitor, hooks, clean filters, signature programs
 * - it is not followed to another folder, see `findRepository`; submodules neither
 */
export function createGitReader(): (
  root: string,
  signal?: AbortSignal,
  meanwhile?: () => Promise<unknown>,
) => Promise<GitReading> {
  const histories = new Map<string, History>()
  const indexes = new Map<string, Index>()
  const inSubmodules = createSubmoduleReader()

  async function readHistory(checkout: Checkout, signal?: AbortSignal): Promise<History> {
    const log = ['log', `-n${COMMITS_READ}`, '--format=//%H %an %ae', '--name-only', '-z', '--no-renames', '--relative']
    const { output } = await git(checkout, log, signal)
    const { head, commits } = parseLog(output)
    return keep(histories, checkout.root, { head, commits: commits.slice(0, COMMITS) })
  }

  async function readIndex(checkout: Checkout, version: string | null, signal?: AbortSignal): Promise<Index> {
    const kept = indexes.get(checkout.root)
    if (kept && kept.failure === null && version !== null && kept.version === version) return kept
    const { output, failure } = await git(checkout, ['ls-files', '-s', '-z'], signal)
    const parsed = { tracked: parseIndex(output), submodules: parseSubmodules(output) }
    return keep(indexes, checkout.root, { version, failure, ...parsed })
  }

  /** Tells whether git had too much to say of this index, which it would list for seconds again. */
  function isTooLarge(root: string, version: string | null): boolean {
    const kept = indexes.get(root)
    return version !== null && kept?.version === version && kept.failure === TOO_MUCH
  }

  /**
   * @param meanwhile called and awaited while git runs: it may block this thread at no cost. Also called without a
   *   repository
   * @throws GazewayError `cancelled` when the signal aborts
   */
  return async function readGit(root, signal, meanwhile = async () => {}) {
    const repository = await findRepository(root, signal)
    if (repository === null || 'refused' in repository) {
      await meanwhile()
      return { state: null, notes: repository === null ? [] : [`${UNKNOWN}: ${repository.refused}`] }
    }
    const { top, gitDir } = repository
    const checkout = { root, top }
    const prefix = top === root ? '' : `${relative(top, root).replaceAll(sep, '/')}/`
    const version = await indexVersion(gitDir)
    if (isTooLarge(root, version)) {
      await meanwhile()
      return { state: null, notes: [`${UNKNOWN}: ${TOO_MUCH}`] }
    }
    const filters = readFilters(checkout, signal)
    const [untracked, status, indexBefore, kept] = await Promise.all([
      readUntracked(checkout, signal),
      filters.then((off) => readStatus(checkout, off, signal)),
      readIndex(checkout, version, signal),
      histories.get(root) ?? readHistory(checkout, signal),
      filters.then(meanwhile),
    ])
    const versionAfter = await indexVersion(gitDir)
    const index = versionAfter === version ? indexBefore : await readIndex(checkout, versionAfter, signal)
    const failure = index.failure ?? status.failure ?? untracked.failure
    if (failure !== null) return { state: null, notes: [`${UNKNOWN}: ${failure}`] }
    const { head, changes } = parseStatus(status.output, prefix)
    for (const path of parseUntracked(untracked.output)) changes.set(path, 'untracked')
    const history = head === kept.head || head === NO_COMMITS ? kept : await readHistory(checkout, signal)
    const { files, notes } = await inSubmodules(root, index.submodules, signal)
    return { state: { tracked: index.tracked, changes, commits: history.commits, inSubmodules: files }, notes }
  }
}

function keep<T>(kept: Map<string, T>, root: string, value: T): T {
  if (kept.size >= ROOTS_KEPT) kept.clear()
  kept.set(root, value)
  return value
}

/** Lists the untracked files. `git status` could list them, but only after it has read all tracked files. */
function readUntracked(checkout: Checkout, signal?: AbortSignal): Promise<Answer> {
  return git(checkout, ['ls-files', '--others', '--exclude-standard', '-x', 'node_modules/', '-z'], signal)
}
