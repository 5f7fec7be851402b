import { setFlagsFromString } from 'node:v8'

/** By itself V8 waits for eight seconds. */
const COLLECT_ALL_AFTER_MS = 600_000

/**
 * Has V8 wait for ten minutes after memory has grown until it collects everything, as soon as there is little else to do. It
 * gives up code then that was compiled for objects of which none is left, which is that of each step of a request: the next
 * two thousand take up to three times as long. To be called before the rest of the program is loaded: that grows memory
 * already, and what V8 has begun to wait for by then comes in the first rest after a load.
 */
export function postponeFullCollection(): void {
  setFlagsFromString(`--gc-memory-reducer-start-delay-ms=${COLLECT_ALL_AFTER_MS}`)
}
