import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'

/** Longest time that `work` blocked this thread, in milliseconds, accurate to about 10. */
export async function longestHold(work: () => Promise<unknown>): Promise<number> {
  const histogram = monitorEventLoopDelay({ resolution: 5 })
  histogram.enable()
  // It counts from its first tick on.
  await delay(20)
  histogram.reset()
  await work()
  await delay(20)
  histogram.disable()
  return histogram.max / 1e6
}
