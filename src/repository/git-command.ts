import { type ExecFileException, execFile } from 'node:child_process'
import { delimiter, dirname } from 'node:path'
import { GazewayError } from '../errors.ts'
import { cut } from '../text/cut.ts'
import { ownSearchPath } from '../text/search-path.ts'

const TIME_LIMIT_MS = 5_000
const OUTPUT_LIMIT = 64 * 1024 * 1024

/** Failure of a command whose output exceeds the limit: that of a repository of several hundred thousand files. */
export const TOO_MUCH = `git printed more than ${OUTPUT_LIMIT / 1024 / 1024} MiB`

/** The checkout that git runs in. */
export interface Checkout {
  /** Folder that the command is about. */
  root: string
  /** Folder that holds the repository: `root`, or one above it. */
  top: string
  /**
   * The folder itself is a repository without a checkout, as on a server. Objects that a push brings are then looked for
   * where git's hooks say that they are.
   */
  isBare?: boolean
  /** Index file in place of the repository's. */
  index?: string
}

/** The result of a git command. */
export interface Answer<Output = string> {
  output: Output
  exitCode: number | null
  /** Null when the command succeeded. */
  failure: string | null
  /** Warnings of a command that succeeded. */
  warnings: string
}

const HARDENED = [
  // Its hint would come before the reason of a failure.
  'advice.graftFileDeprecated=false',
  'safe.bareRepository=explicit',
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.untrackedCache=false',
  'log.showSignature=false',
  'status.renames=true',
  'status.renameLimit=200',
].flatMap((setting) => ['-c', setting])

/** Variables that say in a `pre-receive` hook where the pushed objects are (git-receive-pack(1), QUARANTINE ENVIRONMENT). */
const QUARANTINE = ['GIT_OBJECT_DIRECTORY', 'GIT_ALTERNATE_OBJECT_DIRECTORIES', 'GIT_QUARANTINE_PATH']

function environment({ top, isBare = false, index }: Checkout): NodeJS.ProcessEnv {
  const isKept = (name: string) => !name.startsWith('GIT_') || (isBare && QUARANTINE.includes(name))
  const inherited = Object.entries(process.env).filter(([name]) => isKept(name))
  return {
    ...Object.fromEntries(inherited.map(([name, value]) => [name, isPath(name) ? ownPath(value) : value])),
    LC_ALL: 'C',
    // Takes precedence over the repository's core.worktree. Git looks for no repository above the checked one.
    ...(isBare ? { GIT_DIR: top } : { GIT_WORK_TREE: top }),
    ...(index !== undefined && { GIT_INDEX_FILE: index }),
    GIT_CEILING_DIRECTORIES: dirname(top),
    GIT_OPTIONAL_LOCKS: '0',
    // A reference below refs/replace would show other contents than those that a hash names.
    GIT_NO_REPLACE_OBJECTS: '1',
    // The repository's info/grafts would give a commit other parents than those that its hash names.
    GIT_GRAFT_FILE: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'none',
  }
}

/** Recognizes the search path: Windows calls it `Path`. */
const isPath = (name: string): boolean => name.toUpperCase() === 'PATH'

const ownPath = (value = ''): string => ownSearchPath(value, process.platform).join(delimiter)

/** Runs one git command in a checkout. Throws only `cancelled`, when the signal aborts. */
export async function git(checkout: Checkout, args: string[], signal?: AbortSignal): Promise<Answer> {
  const answer = await gitBytes(checkout, args, { ...(signal && { signal }) })
  return { ...answer, output: answer.output.toString() }
}

/** Runs one git command as {@link git} does, with `input` on its standard input. Returns its output as bytes. */
export function gitBytes(
  checkout: Checkout,
  args: string[],
  { input, signal }: { input?: string; signal?: AbortSignal } = {},
): Promise<Answer<Buffer>> {
  const limits = { timeout: TIME_LIMIT_MS, maxBuffer: OUTPUT_LIMIT, killSignal: 'SIGKILL' as const, windowsHide: true }
  // Does not run in the root: Windows looks for programs in the working directory first.
  const place = { cwd: dirname(process.execPath), env: environment(checkout), encoding: 'buffer' as const }
  return new Promise((done, fail) => {
    const failed = (error: ExecFileException, stderr: string) => {
      const exitCode = typeof error.code === 'number' ? error.code : null
      done({ output: Buffer.alloc(0), exitCode, failure: failureOf(error, stderr), warnings: '' })
    }
    const command = ['-C', checkout.root, '--no-pager', ...HARDENED, ...args]
    try {
      const child = execFile('git', command, { ...limits, ...place, ...(signal && { signal }) }, (error, out, err) => {
        if (signal?.aborted) return fail(new GazewayError('cancelled', 'The caller cancelled the work context.'))
        if (!error) return done({ output: out, exitCode: 0, failure: null, warnings: err.toString() })
        failed(error, err.toString())
      })
      if (input === undefined) return
      // A git that ended early is reported by its exit code.
      child.stdin?.on('error', () => {})
      child.stdin?.end(input)
    } catch (error) {
      // The filter names of a hostile repository can exceed the length limit of a command line.
      failed(error as ExecFileException, '')
    }
  })
}

function failureOf(error: ExecFileException, stderr: string): string {
  if (error.code === 'ENOENT') return 'git is not installed'
  // Node's types do not know this code, though its errors have it.
  if ((error.code as unknown) === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return TOO_MUCH
  if (error.killed) return `git did not answer within ${TIME_LIMIT_MS / 1000} s`
  return `git refused (${cut(stderr.split('\n')[0] ?? '', 0, 120) || error.code})`
}
