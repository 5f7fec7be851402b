import type { Admission } from './admit.ts'
import type { Asking } from './attempt-order.ts'
import { records } from './convert/loose.ts'
import { countsOnStored } from './convert/stored-state.ts'
import { outrun } from './outrun.ts'
import type { Receiver } from './relay/receiver.ts'
import type { Candidate } from './route.ts'

/**
 * Hedged requests: where a candidate has not begun to answer after a delay, the next one is asked beside it. The first that
 * answers wins, and the other is ended (Dean and Barroso, "The Tail at Scale", https://doi.org/10.1145/2408776.2408794). Envoy
 * has this as `hedge_on_per_try_timeout`, gRPC as `hedgingPolicy`, Finagle as backup requests; all of them for requests without
 * side effects alone.
 */

/** Candidates that are asked beside each other, for one client. */
export interface Race {
  /** The receiver of one more of them: it is gone once another one has begun to answer. */
  enter(): Receiver
  /** Whether one of them has begun to answer, or the first is over. */
  isDecided(): boolean
  /**
   * Waits for the first, and begins `next` where the race is not decided after `afterMs` milliseconds.
   *
   * @returns what came of both; null for a second that was not begun
   */
  run<Made>(first: Promise<Made>, afterMs: number, next: () => Promise<Made | null>): Promise<[Made, Made | null]>
}

/** @param attempts how many candidates were asked so far, which the reply says */
export function createRace(client: Receiver, attempts: () => number): Race {
  const entered = new Map<Receiver, Array<() => void>>()
  let winner: Receiver | null = null
  let isDecided = false
  let onDecided: () => void = () => {}

  function decide(): void {
    isDecided = true
    onDecided()
  }

  function enter(): Receiver {
    const leave: Array<() => void> = []
    const isOut = () => winner !== null && winner !== receiver

    /** @throws GazewayError where another has begun to answer: its client is to have nothing of this one */
    function win(headers: Record<string, string>): Record<string, string> {
      if (isOut()) throw outrun()
      if (winner === null) {
        winner = receiver
        decide()
        for (const [other, listeners] of entered) if (other !== receiver) for (const listener of listeners) listener()
      }
      return { ...headers, 'x-gazeway-attempts': String(attempts()) }
    }
    const receiver: Receiver = {
      ...client,
      isGone: () => isOut() || client.isGone(),
      onGone(listener) {
        leave.push(listener)
        client.onGone(listener)
      },
      reason: () => (isOut() ? outrun() : client.reason?.()),
      whole: (status, headers, bytes) => client.whole(status, win(headers), bytes),
      ...(client.hold && { hold: (status, headers) => client.hold?.(status, win(headers)) }),
      head: (status, headers) => client.head(status, win(headers)),
      watch(tap) {
        if (winner === receiver) client.watch?.(tap)
      },
      drop() {
        if (!isOut()) client.drop()
      },
    }
    entered.set(receiver, leave)
    return receiver
  }

  /** @returns false as soon as the race is decided */
  const isUndecidedAfter = (ms: number): Promise<boolean> =>
    new Promise((resolve) => {
      if (isDecided) return resolve(false)
      const timer = setTimeout(resolve, ms, true)
      onDecided = () => {
        clearTimeout(timer)
        resolve(false)
      }
    })

  return {
    enter,
    isDecided: () => isDecided,
    run: (first, afterMs, next) =>
      Promise.all([first.finally(decide), isUndecidedAfter(afterMs).then((isSlow) => (isSlow ? next() : null))]),
  }
}

/**
 * The candidate to ask beside one that is slow: the next that has a key which does not rest, and that the circuit breaker does
 * not leave alone. Null for none.
 */
export function besideOf(candidates: readonly Candidate[], slow: Candidate): Asking | null {
  for (const candidate of candidates.slice(candidates.indexOf(slow) + 1)) {
    const { relays, path, isStandIn } = candidate
    const [relay] = relays.awake()
    if (relay && !isStandIn && !relays.isLeftAlone(path)) return { candidate, relay, isLast: false }
  }
  return null
}

/**
 * Whether a request may be made twice. One that its upstream stores, goes on with in the background or runs tools for has
 * effects there that ending it does not undo; one that counts on what an upstream has stored is for that one alone.
 */
export function isHedgeable({ endpoint, request: { json }, keeper = null }: Admission): boolean {
  // Responses are stored unless the request says otherwise.
  const isStored = endpoint === '/responses' ? json.store !== false : json.store === true
  return !isStored && json.background !== true && keeper === null && !countsOnStored(json) && !hasHostedTools(json)
}

/** Whether the provider itself runs tools for it; a tool of its client has no type, or one of two. */
const hasHostedTools = ({ tools, mcp_servers }: Record<string, unknown>): boolean =>
  records(mcp_servers).length > 0 ||
  records(tools).some(({ type }) => type !== undefined && type !== 'function' && type !== 'custom')
