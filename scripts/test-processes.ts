import { readFileSync } from 'node:fs'
import { LONGEST_TESTS } from './longest-tests.ts'

/** Folders whose test files share processes: they start no program and no server for all of a machine. */
const TOGETHER =
  /^test\/(adapters|agent|agent-gateway|alerts|assistants|calls|config|context|doubles|gaze|identity|inference|memory|projects|providers|reconcile|review|signing|skills|text|wire)\//

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
    else if (open && open.length < AT_MOST) open.push(file)
    else {
      open = [file]
      processes.push(open)
    }
  }
  return processes
}

function mayShare(file: string): boolean {
  if (!TOGETHER.test(file) || LONGEST_TESTS.includes(file)) return false
  const text = readFileSync(file, 'utf8')
  return !ALONE.some((state) => state.test(text))
}
