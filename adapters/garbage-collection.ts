import { setFlagsFromString } from 'node:v8'

/** By itself V8 waits for eight seconds. */
const COLLECT_ALL_AFTER_MS = 600_000

/**
 * Has V8 collect garbage as suits a process that answers one short request after the other. To be called before the rest of
 * the program is loaded: that grows memory already, and what V8 has begun to wait for by then comes in the first rest after
 * a load.
 *
 * - It waits for ten minutes after memory has grown until it collects everything, as soon as there is little else to do. It
 *   gives up code then that was compiled for objects of which none is left, which is that of each step of a request: the
 *   next two thousand take up to three times as long.
 * - It makes all that is new young. By itself it makes what comes from a place in the code old at once where most of that
 *   has outlived a collection, as all has that is in progress in the first of them; each of these then holds what it refers
 *   to, its whole request, until everything is collected. In half of all processes a third of what was made outlived its
 *   request so, and each cost up to twice as much.
 */
export function collectForRequests(): void {
  setFlagsFromString(`--gc-memory-reducer-start-delay-ms=${COLLECT_ALL_AFTER_MS}`)
  setFlagsFromString('--no-allocation-site-pretenuring')
}
