/** Longest time that work may block the event loop, in milliseconds. */
const SLICE_MS = 10

const waiting: Array<() => void> = []
/** Start of the current slice. */
let began = 0

/**
 * Yields to the event loop. Long work awaits this before each of its parts. All such work in the process shares one
 * slice of 10 ms per turn of the loop, so that requests are served in between. Returns undefined while the slice lasts.
 *
 * @example
 * for (const file of ['a.ts', 'b.ts']) {
 *   await yieldToEventLoop()
 *   file.toUpperCase()
 * }
 */
export function yieldToEventLoop(): Promise<void> | undefined {
  if (waiting.length === 0 && performance.now() - began < SLICE_MS) return undefined
  return nextSlice()
}

/** Waits for a slice that nothing has used yet. A step that is long and cannot be split awaits this before it. */
export function nextSlice(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(next)
  })
}

function next(): void {
  const resume = waiting.shift()
  // Schedule the next turn before resuming, so that I/O is handled in between.
  if (waiting.length > 0) setImmediate(next)
  began = performance.now()
  resume?.()
}
