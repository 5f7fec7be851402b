import { setTimeout as delay } from 'node:timers/promises'

/** What `work` resolves to; undefined when that takes longer than `ms`. The work then goes on, and its failure is nobody's. */
export async function inTime<T>(ms: number, work: T | Promise<T>): Promise<T | undefined> {
  const over = new AbortController()
  const late = delay(ms, undefined, { signal: over.signal }).catch(() => undefined)
  try {
    return await Promise.race([work, late])
  } finally {
    over.abort()
  }
}
