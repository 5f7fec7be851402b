/** Bound and name of a wait. */
interface Waiting {
  /** Subject of the error: a name, or what is known at the end, such as a log. The condition's source without it. */
  what?: string | (() => string)
  /** Longest wait in seconds; 30 by default, for a machine that is busy with other things. */
  seconds?: number
}

// Some tests mock the timers.
const { setTimeout: realTimeout } = globalThis
/** Shortest and longest time between two checks, in milliseconds. */
const [SHORTEST_MS, LONGEST_MS] = [5, 50]

/**
 * Waits until a condition holds that an event out of the test's reach brings about. The longer it has waited, the less often
 * it checks: a check may ask a server.
 *
 * @returns the condition's value
 * @throws Error "Waited 30 s for …" when it does not hold in time
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  { what, seconds = 30 }: Waiting = {},
): Promise<Exclude<T, false | null | undefined>> {
  const began = performance.now()
  for (;;) {
    const value = await condition()
    if (value) return value as Exclude<T, false | null | undefined>
    const waited = performance.now() - began
    if (waited > seconds * 1000) {
      const subject = typeof what === 'function' ? what() : (what ?? String(condition).replace(/\s+/g, ' '))
      throw new Error(`Waited ${seconds} s for ${subject}`)
    }
    await new Promise((resolve) => realTimeout(resolve, Math.min(SHORTEST_MS + waited / 20, LONGEST_MS)))
  }
}
