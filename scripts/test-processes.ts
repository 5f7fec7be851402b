import { readFileSync } from 'node:fs'
import { LONGEST_TESTS } from './longest-tests.ts'

/** Test files that have a process of their own: they start a browser with a camera or windows, end what they started, or load a machine fully. */
const APART =
  /^test\/((bench|contract|faults)\/|console\/(camera|review)\.|e2e\/(large-bodies|noisy-neighbour|routes-chaos)\.)/

/**
 * Code that changes or measures all of a process: its clock, variables, listeners and memory. A file with it has a process
 * of its own, as one with its own PostgreSQL server has.
 */
const ALONE = [
  /mock\.timers|holdTime|monitorEventLoopDelay/,
  /process\.(env\.\w+ =(?!=)|on\(|cpuUsage|memoryUsage|umask|chdir)|delete process\.env/,
  /setGlobalDispatcher|setFlagsFromString|diagnostics_channel|whenCodeIsGone|startPostgres/,
]
/** Hooks outside of a suite, which would run for the cases of other files in the process too. */
const HOOKS = /^(before|beforeEach|afterEach)\(/m

/** Folders whose test files start programs, and take longer. Files with hooks start a gateway for all of their cases. */
const SLOW = /^test\/(chain|docs|e2e|payments)\//
/**
 * Files in one process, by what they have in common. More would leave a core without work at the end. Those that run commands
 * in their process change its folder and variables meanwhile, so that they share it with one another alone.
 */
const AT_MOST = { quick: 28, slow: 10, postgres: 10, console: 4, command: 6 }
type Kind = keyof typeof AT_MOST

/**
 * Divides test files among processes. A file's own process costs it half a second of CPU and more, to load code that it
 * shares with others.
 *
 * @returns for each process its files: first the longest ones, then those that wait for browsers and programs, then those that
 *   work all the time. Small files come last, and fill the cores to the end
 */
export function byProcess(files: readonly string[]): string[][] {
  const processes: string[][] = []
  const open = new Map<Kind, string[]>()
  for (const file of files) {
    if (!mayShare(file)) {
      processes.push([file])
      continue
    }
    const kind = kindOf(file)
    const joined = open.get(kind)
    if (joined && joined.length < AT_MOST[kind]) joined.push(file)
    else {
      const begun = [file]
      open.set(kind, begun)
      processes.push(begun)
    }
  }
  return processes.sort((one, other) => rankOf(one) - rankOf(other))
}

/** Files of their own process that start programs, and so may take long. */
const STARTS = /\b(?:spawn|startConsole|startGatewayProcess|startPostgres)\b/

function rankOf(process: readonly string[]): number {
  const [first = ''] = process
  if (LONGEST_TESTS.includes(first)) return 0
  if (process.length > 1) return kindOf(first) === 'quick' ? 2 : 1
  return APART.test(first) || STARTS.test(readFileSync(first, 'utf8')) ? 1 : 3
}

function kindOf(file: string): Kind {
  const text = readFileSync(file, 'utf8')
  if (text.includes('runHere')) return 'command'
  if (text.includes('sharedPostgres')) return 'postgres'
  if (/startConsole|startFullBrowser/.test(text)) return 'console'
  return SLOW.test(file) || HOOKS.test(text) ? 'slow' : 'quick'
}

/** Tells whether a file that shares its process declares hooks for its cases, and so needs a suite around all of it. */
export const needsSuite = (file: string): boolean => mayShare(file) && HOOKS.test(readFileSync(file, 'utf8'))

function mayShare(file: string): boolean {
  if (APART.test(file) || LONGEST_TESTS.includes(file)) return false
  const text = readFileSync(file, 'utf8')
  return !ALONE.some((state) => state.test(text))
}
