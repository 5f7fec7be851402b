import { createContext, Script } from 'node:vm'

/** Made when it is first needed: it costs 1 ms. */
let place: { work: () => unknown } | undefined
let run: Script | undefined

/**
 * What `work` returns; undefined when that takes longer. Patterns that others choose can match for minutes, and nothing
 * else ends a regular expression on this thread. The work is stopped wherever it is: nothing that it changes may be used
 * afterwards. A call costs 0.1 ms.
 *
 * @param ms how long it may take at most; above 0
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
