import { performance } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** How often it is asked whether the process is idle. */
const WATCH_MS = 100
/** Of the event loop's time, how much may have been used since it was last asked. */
const IDLE_UTILIZATION = 0.05
/** A young generation that is larger has been grown by a load. */
const SMALL_BYTES = 4 * 1024 ** 2
/** How many times it is collected: V8 judges by the last ten times, and the first move what is left. */
const COLLECTIONS = 16
/** How long after each other; then once more with longer pauses, in which more may be allocated: V8 judges by that in a ms. */
const COLLECT_MS = 20
const COLLECT_SLOWLY_MS = 250
/** By how much the young generation grows: from the least that V8 leaves of it to the most, at once. */
const GROWTH = 16

/**
 * Gives memory back to the system that a load needed, once the process has had next to nothing to do for half a second.
 * V8 shrinks its young generation, a quarter of what is resident, only as it collects it and finds that little was allocated
 * since; an idle process may not come to that for hours. To collect this generation alone takes one or two milliseconds
 * and keeps compiled code; to collect everything, as where memory is low, would have the next load start cold. Nor is the
 * generation to grow back by doubling: while it is small, what requests in progress hold is taken for old, and the first
 * two seconds of the next load cost a sixth more.
 *
 * @returns what stops it
 */
export function giveBackIdleMemory(): { stop(): void } {
  setFlagsFromString(`--semi-space-growth-factor=${GROWTH}`)
  let collections = 0
  let since = performance.eventLoopUtilization()
  let timer = setTimeout(look, WATCH_MS).unref()
  function look(): void {
    const isIdle = performance.eventLoopUtilization(since).utilization < IDLE_UTILIZATION
    collections = isIdle && youngGeneration() > SMALL_BYTES ? collections + 1 : 0
    const collects = collections > 0 && collections <= 2 * COLLECTIONS
    if (collects) collectYoungGeneration()
    const pauseMs = collections <= COLLECTIONS ? COLLECT_MS : COLLECT_SLOWLY_MS
    // After the collection, which is no work that keeps it from being idle.
    since = performance.eventLoopUtilization()
    timer = setTimeout(look, collects ? pauseMs : WATCH_MS).unref()
  }
  return { stop: () => clearTimeout(timer) }
}

const youngGeneration = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0

let gc: NodeJS.GCFunction | undefined

function collectYoungGeneration(): void {
  gc ??= exposedGc()
  gc({ type: 'minor' })
}

/** V8's own function, which only a context has that is made while the flag is set. */
function exposedGc(): NodeJS.GCFunction {
  setFlagsFromString('--expose-gc')
  try {
    return runInNewContext('gc')
  } finally {
    setFlagsFromString('--no-expose-gc')
  }
}
