import { type ExecFileException, execFile } from 'node:child_process'
import { lstat, stat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { cut } from '../cut.ts'
import { GazewayError } from '../errors.ts'
import { parseIndex, parseLog, parseStatus } from './git-output.ts'

const TIME_LIMIT_MS = 5_000
const OUTPUT_LIMIT = 64 * 1024 * 1024
const COMMITS = 50
/** Roots whose commits and tracked files are kept. */
const ROOTS_KEPT = 8
/** The exit code of `git config --get-regexp` when nothing matches. */
const NO_MATCH = 1
/** What porcelain v2 says instead of an object id before the first commit. */
const NO_COMMITS = '(initial)'

/** What git knows about a root. Paths are relative to the root, with forward slashes. */
interface GitState {
  /** Tracked files, without links and submodules. */
  tracked: string[]
  /** Uncommitted state by path: modified, added, untracked, renamed, deleted, conflicted. */
  changes: Map<string, string>
  /** The files of each of the newest commits (at most 50), newest first. */
  commits: string[][]
}

/** What git answered about a root. */
interface GitReading {
  /** Null when there is no repository, or git could not tell. */
  state: GitState | null
  /** Why git could not tell, in plain words. */
  notes: string[]
}

interface Answer {
  output: string
  exitCode: number | null
  /** Null when the command succeeded. */
  failure: string | null
}

interface Index {
  version: string | null
  failure: string | null
  tracked: string[]
}

interface History {
  head: string
  commits: string[][]
}

/**
 * Reads the state of repositories. The commits of a root are kept until its HEAD moves, its tracked files until the index
 * is replaced; the rest is read each time.
 *
 * The repository is not trusted: no shell, no network, no locks, and nothing that its configuration names is run (file
 * system monitor, hooks, clean filters, signature programs, submodules).
 */
export function createGitReader(): (
  root: string,
  signal?: AbortSignal,
  meanwhile?: () => Promise<unknown>,
) => Promise<GitReading> {
  const histories = new Map<string, History>()
  const indexes = new Map<string, Index>()

  async function readHistory(root: string, signal?: AbortSignal): Promise<History> {
    const log = ['log', `-n${COMMITS}`, '--format=//%H', '--name-only', '-z', '--no-renames', '--relative']
    const { output } = await git(root, log, signal)
    return keep(histories, root, parseLog(output))
  }

  async function readIndex(root: string, version: string | null, signal?: AbortSignal): Promise<Index> {
    const kept = indexes.get(root)
    if (kept && kept.failure === null && version !== null && kept.version === version) return kept
    const { output, failure } = await git(root, ['ls-files', '-s', '-z'], signal)
    return keep(indexes, root, { version, failure, tracked: parseIndex(output) })
  }

  /**
   * @param meanwhile called as soon as git runs, and awaited: it may keep this thread busy at no cost. Called without a
   *   repository too.
   * @throws GazewayError `cancelled` when the signal aborts
   */
  return async function readGit(root, signal, meanwhile = async () => {}) {
    const top = await findRepository(root)
    if (top === null) {
      await meanwhile()
      return { state: null, notes: [] }
    }
    const prefix = top === root ? '' : `${relative(top, root).replaceAll(sep, '/')}/`
    const [filters, version] = await Promise.all([readFilters(root, signal), indexVersion(top)])
    const [status, index, kept] = await Promise.all([
      readStatus(root, filters, signal),
      readIndex(root, version, signal),
      histories.get(root) ?? readHistory(root, signal),
      meanwhile(),
    ])
    const failure = index.failure ?? status.failure
    if (failure !== null) return { state: null, notes: [`changes and commits are unknown: ${failure}`] }
    const { head, changes } = parseStatus(status.output, prefix)
    const history = head === kept.head || head === NO_COMMITS ? kept : await readHistory(root, signal)
    return { state: { tracked: index.tracked, changes, commits: history.commits }, notes: [] }
  }
}

function keep<T>(kept: Map<string, T>, root: string, value: T): T {
  if (kept.size >= ROOTS_KEPT) kept.clear()
  kept.set(root, value)
  return value
}

/** Changes whenever git replaces the index; null where it is not in the usual place (linked worktrees). */
async function indexVersion(top: string): Promise<string | null> {
  const info = await stat(join(top, '.git', 'index'), { bigint: true }).catch(() => null)
  return info && `${info.ino} ${info.size} ${info.mtimeNs} ${info.ctimeNs}`
}

/** The nearest folder, from `root` upwards, that holds a `.git`. */
async function findRepository(root: string): Promise<string | null> {
  for (let folder = root; ; folder = dirname(folder)) {
    const found = await lstat(join(folder, '.git')).catch(() => null)
    if (found) return folder
    if (folder === dirname(folder)) return null
  }
}

async function readStatus(root: string, filters: Answer, signal?: AbortSignal): Promise<Answer> {
  if (filters.failure !== null && filters.exitCode !== NO_MATCH) return filters
  const keys = filters.output.split('\0').filter(Boolean)
  const names = [...new Set(keys.map((key) => key.slice(0, key.lastIndexOf('.'))))]
  // `-c` splits at the first '=': such a filter could not be switched off, so status must not run.
  const unstoppable = names.find((name) => name.includes('='))
  if (unstoppable !== undefined) return { ...filters, failure: `its configuration has a filter called ${unstoppable}` }
  const off = names.flatMap((name) => [
    '-c',
    `${name}.clean=`,
    '-c',
    `${name}.process=`,
    '-c',
    `${name}.required=false`,
  ])
  const status = ['status', '--porcelain=v2', '-z', '--branch', '--untracked-files=all', '--ignore-submodules=all']
  return git(root, [...off, ...status, '--', '.', ':(exclude,glob)**/node_modules/**'], signal)
}

/**
 * The names of the filters that status could run, as `filter.<name>.<key>`. Only git knows where a repository's
 * configuration is: it may be laid out without a `.git`, or keep it in another folder.
 */
function readFilters(root: string, signal?: AbortSignal): Promise<Answer> {
  return git(root, ['config', '-z', '--name-only', '--get-regexp', '^filter\\.'], signal)
}

const HARDENED = [
  'safe.bareRepository=explicit',
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.untrackedCache=false',
  'log.showSignature=false',
  'status.renames=true',
  'status.renameLimit=200',
].flatMap((setting) => ['-c', setting])

function environment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))
  return {
    ...Object.fromEntries(inherited),
    LC_ALL: 'C',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'none',
  }
}

/** One git command; it only throws `cancelled`, when the signal aborts. */
function git(root: string, args: string[], signal?: AbortSignal): Promise<Answer> {
  const limits = { timeout: TIME_LIMIT_MS, maxBuffer: OUTPUT_LIMIT, killSignal: 'SIGKILL' as const, windowsHide: true }
  // Not run from the root: Windows looks for programs in the working directory first.
  const place = { cwd: dirname(process.execPath), env: environment() }
  return new Promise((done, fail) => {
    const command = ['-C', root, '--no-pager', ...HARDENED, ...args]
    try {
      execFile('git', command, { ...limits, ...place, ...(signal && { signal }) }, (error, stdout, stderr) => {
        if (signal?.aborted) return fail(new GazewayError('cancelled', 'The caller cancelled the work context.'))
        if (!error) return done({ output: stdout, exitCode: 0, failure: null })
        const exitCode = typeof error.code === 'number' ? error.code : null
        done({ output: '', exitCode, failure: failureOf(error, stderr) })
      })
    } catch (error) {
      // The names of a hostile repository's filters can be more than a command line takes.
      done({ output: '', exitCode: null, failure: failureOf(error as ExecFileException, '') })
    }
  })
}

function failureOf(error: ExecFileException, stderr: string): string {
  if (error.code === 'ENOENT') return 'git is not installed'
  if (error.killed) return `git did not answer within ${TIME_LIMIT_MS / 1000} s, or said too much`
  return `git refused (${cut(stderr.split('\n')[0] ?? '', 0, 120) || error.code})`
}
