/** How long work may keep the thread to itself, in milliseconds. */
const SLICE_MS = 10

const waiting: Array<() => void> = []
/** When the slice that runs now began. */
let began = 0

/**
 * Lets others have the thread: long work awaits it before each of its parts. All such work in the process takes turns, one
 * slice of 10 ms in each turn of the event loop, so that requests come between however much of it there is. Work whose
 * slice is not over goes on at once.
 */
export function giveWay(): Promise<void> | undefined {
  if (waiting.length === 0 && performance.now() - began < SLICE_MS) return undefined
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(next)
  })
}

function next(): void {
  const resume = waiting.shift()
  // In a later turn of the event loop, which hears of what came in before.
  if (waiting.length > 0) setImmediate(next)
  began = performance.now()
  resume?.()
}
