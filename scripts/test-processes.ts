import { readFileSync } from 'node:fs'
import { LONGEST_TESTS } from './longest-tests.ts'

/** Test files that have a process of their own: they start browsers, end what they started, or load a machine fully. */
const APART = /^test\/((bench|console|contract|faults)\/|e2e\/(large-bodies|noisy-neighbour|routes-chaos)\.)/

/**
 * Code that changes or measures all of a process: its clock, variables, listeners and memory, hooks outside of a suite. A file with
 * it has a process of its own, as one with a PostgreSQL server has.
 */
const ALONE = [
  /mock\.timers|holdTime|monitorEventLoopDelay|runHere/,
  /process\.(env\.\w+ =|on\(|cpuUsage|memoryUsage|umask|chdir)|delete process\.env/,
  /setGlobalDispatcher|diagnostics_channel|whenCodeIsGone|startPostgres/,
  /^(before|beforeEach|afterEach)\(/m,
]

/** Files in one process. More would leave a core without work at the end. */
const AT_MOST = 14
/** Folders whose test files start programs, and take longer. */
const SLOW = /^test\/(chain|docs|e2e|payments)\//
const AT_MOST_SLOW = 5

/**
 * Divides test files among processes. A file's own process costs it half a second of CPU and more, to load code that it
 * shares with others.
 *
 * @returns for each process its files, in the order given
 */
export function byProcess(files: readonly string[]): string[][] {
  const processes: string[][] = []
  let open: string[] | undefined
  for (const file of files) {
    if (!mayShare(file)) processes.push([file])
    else if (open && open.length < (SLOW.test(file) ? AT_MOST_SLOW : AT_MOST)) open.push(file)
    else {
      open = [file]
      processes.push(open)
    }
  }
  return processes
}

function mayShare(file: string): boolean {
  if (APART.test(file) || LONGEST_TESTS.includes(file)) return false
  const text = readFileSync(file, 'utf8')
  return !ALONE.some((state) => state.test(text))
}
