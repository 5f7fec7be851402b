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
}

/** The result of a git command. */
export interface Answer {
  output: string
  exitCode: number | null
  /** Null when the command succeeded. */
  failure: string | null
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

function environment(top: string): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))
  return {
    ...Object.fromEntries(inherited.map(([name, value]) => [name, isPath(name) ? ownPath(value) : value])),
    LC_ALL: 'C',
    // Takes precedence over the repository's core.worktree. Git looks for no repository above the checked one.
    GIT_WORK_TREE: top,
    GIT_CEILING_DIRECTORIES: dirname(top),
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'none',
  }
}

/** Recognizes the search path: Windows calls it `Path`. */
const isPath = (name: string): boolean => name.toUpperCase() === 'PATH'

const ownPath = (value = ''): string => ownSearchPath(value, process.platform).join(delimiter)

/** Runs one git command in a checkout. Throws only `cancelled`, when the signal aborts. */
export function git({ root, top }: Checkout, args: string[], signal?: AbortSignal): Promise<Answer> {
  const limits = { timeout: TIME_LIMIT_MS, maxBuffer: OUTPUT_LIMIT, killSignal: 'SIGKILL' as const, windowsHide: true }
  // Does not run in the root: Windows looks for programs in the working directory first.
  const place = { cwd: dirname(process.execPath), env: environment(top) }
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
      // The filter names of a hostile repository can exceed the length limit of a command line.
      done({ output: '', exitCode: null, failure: failureOf(error as ExecFileException, '') })
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
