import { createContext, Script } from 'node:vm'

/** Created on first use. */
let place: { work: () => unknown } | undefined
let run: Script | undefined

/**
 * Runs `work` synchronously with a time limit; undefined on timeout. For regular expressions from users, which can
 * backtrack for minutes and cannot be interrupted otherwise. The work may stop anywhere, so discard what it changed.
 *
 * @param ms time limit, above 0
 * @example withinTime(50, () => /(a+)+$/.test(`${'a'.repeat(40)}!`)) // undefined
 */
export function withinTime<T>(ms: number, work: () => T): T | undefined {
  place ??= createContext({ work }) as { work: () => unknown }
  run ??= new Script('work()')
  place.work = work
  try {
    return run.runInContext(place, { timeout: Math.ceil(ms) })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined
    throw error
  }
}
