import { setTimeout as delay } from 'node:timers/promises'

/** Awaits `work` for at most `ms`. Undefined on timeout; the work then continues and a later failure is ignored. */
export async function inTime<T>(ms: number, work: T | Promise<T>): Promise<T | undefined> {
  const over = new AbortController()
  const late = delay(ms, undefined, { signal: over.signal }).catch(() => undefined)
  try {
    return await Promise.race([work, late])
  } finally {
    over.abort()
  }
}
