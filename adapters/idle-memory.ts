import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const TICK_MS = 250
/** Of the event loop's time, how much may be used in an idle tick. */
const IDLE_UTILIZATION = 0.02
/** By how much the young generation grows: from the least that V8 leaves of it to the most, at once. */
const GROWTH = 16
/** In how many idle ticks in a row garbage is collected: V8 judges by what was allocated before the last ten times. */
const COLLECTING_TICKS = 12
/**
 * Gives memory back to the system that a load needed, once the process has had next to nothing to do for some seconds. V8
 * shrinks its young generation, a quarter of what is resident, only as it collects it and finds that little was allocated
 * since; an idle process may not come to that for hours. To collect this generation alone takes one or two milliseconds
 * and keeps compiled code; to collect everything, as where memory is low, would have the next load start cold. Nor is the
 * generation to grow back by doubling: while it is small, what requests in progress hold is taken for old, and the first
 * two seconds of the next load cost a sixth more.
 *
 * @returns what stops it
 */
export function giveBackIdleMemory(): { stop(): void } {
  setFlagsFromString(`--semi-space-growth-factor=${GROWTH}`)
  let idleTicks = 0
  let before = performance.eventLoopUtilization()
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    idleTicks = utilization < IDLE_UTILIZATION ? idleTicks + 1 : 0
    if (idleTicks > 0 && idleTicks <= COLLECTING_TICKS) collectYoungGeneration()
  }, TICK_MS)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}

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
