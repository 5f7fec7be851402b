import type { SkippedCandidate } from '../../calls/call-record.ts'
import { objectsOrNone } from '../../text/lenient-reader.ts'
import type { Admission } from '../admit/admit.ts'
import { countsOnStored } from '../convert/stored-state.ts'
import type { Receiver } from '../relay/receiver.ts'
import type { Candidate } from '../route/route.ts'
import { raceLost } from '../upstreams/race-lost.ts'
import { circuitOf, keyOrder, type Selection, skippedAs, whySkipped } from './candidate-order.ts'

/**
 * Hedged requests: when a candidate has not begun to answer after a delay, the next one is tried as well. The first to
 * answer wins, and the other is cancelled (Dean and Barroso, "The Tail at Scale",
 * https://doi.org/10.1145/2408776.2408794). Envoy calls it `hedge_on_per_try_timeout`, gRPC `hedgingPolicy`, Finagle
 * backup requests; all of them only for requests without side effects.
 */

/** Concurrent attempts for one client. */
export interface Race {
  /** Creates the receiver of another attempt. It counts as disconnected once another attempt has begun to answer. */
  enter(): Receiver
  /**
   * Awaits an attempt.
   *
   * @returns null as soon as another one has begun to answer: what the overtaken one costs is still read
   */
  unlessOvertaken<Made>(receiver: Receiver, made: Promise<Made>): Promise<Made | null>
  /** Waits until all attempts have ended, overtaken ones too. */
  over(): Promise<unknown>
  /** True once an attempt has begun to answer, or the first is over. */
  isDecided(): boolean
  /**
   * Awaits the first attempt, and starts `next` when the race is undecided after `afterMs` milliseconds.
   *
   * @returns both results; null for an attempt that was overtaken or not started
   */
  run<Made>(
    first: Promise<Made | null>,
    afterMs: number,
    next: () => Promise<Made | null>,
  ): Promise<[Made | null, Made | null]>
}

/**
 * Creates a race.
 *
 * @param attempts gives the number of attempts so far, which the reply reports
 */
export function createRace(client: Receiver, attempts: () => number): Race {
  const entered = new Map<Receiver, Array<() => void>>()
  const attempted: Promise<unknown>[] = []
  let winner: Receiver | null = null
  const decision = createDecision()

  function enter(): Receiver {
    const leave: Array<() => void> = []
    const isOut = () => winner !== null && winner !== receiver

    /**
     * Claims the client for an attempt.
     *
     * @throws GazewayError when another attempt has begun to answer
     */
    function win(headers: Record<string, string>): Record<string, string> {
      if (isOut()) throw raceLost()
      if (winner === null) {
        winner = receiver
        decision.make()
        for (const [other, listeners] of entered) if (other !== receiver) for (const listener of listeners) listener()
      }
      return { ...headers, 'x-gazeway-attempts': String(attempts()) }
    }
    const receiver: Receiver = {
      isSole: client.isSole,
      isGone: () => isOut() || client.isGone(),
      onGone(listener) {
        leave.push(listener)
        client.onGone(listener)
      },
      reason: () => (isOut() ? raceLost() : client.reason?.()),
      whole: (status, headers, bytes) => client.whole(status, win(headers), bytes),
      hold: client.hold && ((status, headers) => client.hold?.(status, win(headers))),
      head: (status, headers) => client.head(status, win(headers)),
      start: (event) => client.start?.(event),
      watch(tap) {
        if (winner === receiver) client.watch?.(tap)
      },
      paid: () => client.paid?.() ?? null,
      write: client.write,
      onDrain: client.onDrain,
      end: client.end,
      drop() {
        if (!isOut()) client.drop()
      },
    }
    entered.set(receiver, leave)
    return receiver
  }

  function unlessOvertaken<Made>(receiver: Receiver, made: Promise<Made>): Promise<Made | null> {
    attempted.push(made)
    const overtaken = new Promise<null>((resolve) => entered.get(receiver)?.push(() => resolve(null)))
    return Promise.race([made, overtaken])
  }

  return {
    enter,
    unlessOvertaken,
    over: () => Promise.allSettled(attempted),
    isDecided: decision.isMade,
    run: (first, afterMs, next) =>
      Promise.all([
        first.finally(decision.make),
        decision.isDueAfter(afterMs).then((isSlow) => (isSlow ? next() : null)),
      ]),
  }
}

/** A decision that is made once. */
function createDecision() {
  let isMade = false
  let onMade: () => void = () => {}
  return {
    isMade: () => isMade,
    make(): void {
      isMade = true
      onMade()
    },
    /**
     * Waits.
     *
     * @returns false as soon as the decision is made
     */
    isDueAfter: (ms: number): Promise<boolean> =>
      new Promise((resolve) => {
        if (isMade) return resolve(false)
        const timer = setTimeout(resolve, ms, true)
        onMade = () => {
          clearTimeout(timer)
          resolve(false)
        }
      }),
  }
}

/**
 * Candidate to hedge a slow one with: the next that has a key which is not cooling down, and a closed circuit breaker.
 * Null for none.
 */
export function besideOf(
  candidates: readonly Candidate[],
  slow: Candidate,
  call: Pick<Admission, 'context'>,
): Selection | null {
  const skipped: SkippedCandidate[] = []
  for (const candidate of candidates.slice(candidates.indexOf(slow) + 1)) {
    if (candidate.isStandIn) continue
    const circuit = circuitOf(candidate, call.context)
    const reason = whySkipped(candidate, circuit)
    const [relay] = keyOrder(candidate.relays.awake(circuit), call)
    if (relay && reason === null) return { candidate, relay, isLast: false, isLastResort: false, skipped }
    skipped.push(skippedAs(candidate, reason ?? 'keys_resting'))
  }
  return null
}

/**
 * Tells whether a request may be sent twice. Not when the upstream stores it, continues it in the background or runs
 * tools for it, because cancelling does not undo these effects. Not when it depends on state stored at one upstream
 * either.
 */
export function isHedgeable({ endpoint, request: { json }, keeper = null, verbatim }: Admission): boolean {
  // Responses are stored unless the request says otherwise.
  const isStored = endpoint === '/responses' ? json.store !== false : json.store === true
  return (
    verbatim === null &&
    !isStored &&
    json.background !== true &&
    keeper === null &&
    !countsOnStored(json) &&
    !hasHostedTools(json)
  )
}

/** Tells whether the provider runs tools for a request. A tool of the client has no type, or one of two. */
const hasHostedTools = ({ tools, mcp_servers }: Record<string, unknown>): boolean =>
  objectsOrNone(mcp_servers).length > 0 ||
  objectsOrNone(tools).some(({ type }) => type !== undefined && type !== 'function' && type !== 'custom')
