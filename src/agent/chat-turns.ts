import { GazewayError } from '../errors.ts'
import { whyEnded } from '../wire/service-stopping.ts'

/** Maximum number of messages of one session that wait for their turn, and their longest wait in milliseconds. */
export const MESSAGE_TURNS = { maxWaiting: 20, longestWaitMs: 120_000 } as const

/** Runs the work of each key one at a time, in order of arrival. */
export interface Turns {
  /**
   * Waits for its turn, then runs `work`.
   *
   * @throws GazewayError
   * - `rate_limited` at once when too many callers wait
   * - `session_busy` when its turn does not come in time
   * - the error of `whyEnded` when `signal` aborts while it waits
   * @throws the errors of `work`
   */
  run<T>(key: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T>
}

interface Waiter {
  begin(): void
}

/**
 * Creates queues by key, in which one caller at a time has its turn.
 *
 * @param options.maxWaiting most callers that wait under one key
 * @param options.longestWaitMs longest wait of each, in milliseconds
 */
export function createTurns({ maxWaiting, longestWaitMs }: { maxWaiting: number; longestWaitMs: number }): Turns {
  /** Waiting messages by key, for keys with a running message. */
  const lanes = new Map<string, Waiter[]>()

  function wait(lane: Waiter[], signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { begin: () => settle(resolve) }
      const timer = setTimeout(() => settle(() => reject(busy(longestWaitMs))), longestWaitMs)
      const cancel = () => settle(() => reject(givenUp(signal)))
      function settle(then: () => void): void {
        clearTimeout(timer)
        signal?.removeEventListener('abort', cancel)
        const place = lane.indexOf(waiter)
        if (place >= 0) lane.splice(place, 1)
        then()
      }
      lane.push(waiter)
      signal?.addEventListener('abort', cancel, { once: true })
    })
  }

  function next(key: string, lane: Waiter[]): void {
    const waiter = lane.at(0)
    if (waiter === undefined) lanes.delete(key)
    else waiter.begin()
  }

  return {
    async run(key, signal, work) {
      if (signal?.aborted) throw givenUp(signal)
      const busyLane = lanes.get(key)
      const lane = busyLane ?? []
      if (busyLane === undefined) lanes.set(key, lane)
      else if (lane.length >= maxWaiting) throw crowded(maxWaiting)
      else await wait(lane, signal)
      try {
        return await work()
      } finally {
        next(key, lane)
      }
    },
  }
}

const givenUp = (signal: AbortSignal | undefined) =>
  whyEnded(signal?.reason, 'The client disconnected before its turn.')

const crowded = (most: number) =>
  new GazewayError(
    'rate_limited',
    `${most} messages of this session are already waiting for an answer. Wait for one of them.`,
    {
      retryAfterSeconds: 5,
    },
  )

const busy = (waitedMs: number) =>
  new GazewayError(
    'session_busy',
    `This message waited more than ${waitedMs / 1000} s for earlier ones of the session and was not sent. Retry.`,
    { retryAfterSeconds: 5 },
  )
