import type { Store } from '../../store/store.ts'
import { exchangeTurn } from './exchange-turn.ts'
import { headersOf, tooMany } from './rate-headers.ts'
import type {
  Amounts,
  CallTokens,
  RateLimits,
  RateRefusal,
  TurnResult,
  WindowTerms,
  WindowTurn,
} from './shared-window.ts'

/** Smallest limit of calls at a time whose places are kept for a moment, in case further calls come. */
const KEPT_PLACES_FROM = 100
/** Part of the tokens a minute, as its divisor, that goes back at once when calls did not use it. */
const URGENT_PART = 100
/** Factor by which a process holds more than its calls have lately taken. */
const SPARE_PACE = 2
/** Number of renewals in a lease. */
const RENEWALS = 5
/** Longest wait of a call for what is free within it, in milliseconds. */
const PATIENCE_MS = 500

/** A counted call that is in flight. */
export interface CountedCall {
  /** Remaining limits, in the headers that OpenAI's clients read. Empty for a key without limits. */
  headers: Readonly<Record<string, string>>
  /**
   * Ends the call.
   *
   * @param tokens tokens used in total
   */
  end(tokens: number): void
}

/** A call that waits for a turn. */
interface WaitingCall {
  tokens: CallTokens
  /** Time of its arrival, by the monotonic clock. */
  askedAt: number
  resolve(call: CountedCall): void
  reject(error: unknown): void
}

/** The part of a key's limits that this process holds. Times are of the monotonic clock. */
export interface RateShare {
  keyId: string
  limits: RateLimits
  /** Granted and not used yet, as part of the use `n`. */
  free: Amounts
  n: number
  freeUntil: number
  /** Places that it holds in the store. */
  held: number
  /** Calls in flight, and the most of them since the last check. */
  active: number
  peak: number
  /** Tokens that calls in flight have reserved. */
  reserved: number
  waiting: WaitingCall[]
  /** To give back, by use. */
  refunds: Map<number, Amounts>
  overrun: number
  answered: number | null
  /** Amounts that calls have taken since `begunFrom`, and in the interval before. */
  begun: Amounts
  begunBefore: Amounts
  begunFrom: number
  /** Number of a turn that failed and is sent again. Null when none did. */
  turn: number | null
  /** State of the limits after the last turn. */
  last: Pick<TurnResult, 'left' | 'resetMs'> & { at: number }
  /** Turns that are being taken. */
  running: Promise<void> | null
  /** Until what calls gave back goes to the store. */
  release: NodeJS.Timeout | undefined
}

const NONE: Amounts = { requests: 0, tokens: 0 }

/** Creates a share that holds nothing. */
export const newShare = (keyId: string, limits: RateLimits): RateShare => ({
  keyId,
  limits,
  free: NONE,
  n: 0,
  freeUntil: -Infinity,
  held: 0,
  active: 0,
  peak: 0,
  reserved: 0,
  waiting: [],
  refunds: new Map(),
  overrun: 0,
  answered: null,
  begun: { ...NONE },
  begunBefore: NONE,
  begunFrom: -Infinity,
  turn: null,
  last: { left: NONE, resetMs: NONE, at: -Infinity },
  running: null,
  release: undefined,
})

/** Dependencies of {@link takeShare}. */
export interface RateShareDeps {
  store: Store
  /** Name of this process. */
  holder: string
  terms: WindowTerms
  elapsedMs: () => number
  onError: (error: unknown) => void
  /** Called at the end of each call. */
  onEnd(share: RateShare): void
  nextTurn(): number
}

/** Begins a call that has been granted tokens of the use `n`. */
export function beginIn(
  { elapsedMs, onEnd }: Pick<RateShareDeps, 'elapsedMs' | 'onEnd'>,
  share: RateShare,
  { n, reserved, tokens }: { n: number; reserved: number; tokens: CallTokens },
): CountedCall {
  const { limits } = share
  share.active += 1
  share.peak = Math.max(share.peak, share.active)
  share.reserved += reserved
  share.begun.requests += 1
  share.begun.tokens += reserved
  let ended = false
  return {
    headers: headersOf(share, elapsedMs()),
    end(used) {
      if (ended) return
      ended = true
      share.active -= 1
      share.reserved -= reserved
      if (limits.tokensPerMinute !== null) {
        refund(share, n, { requests: 0, tokens: Math.max(0, reserved - used) })
        share.overrun += Math.max(0, used - reserved)
        if (used > 0) share.answered = Math.max(share.answered ?? 0, used - tokens.prompt)
      }
      onEnd(share)
    },
  }
}

/** Takes what a call needs from the free part of a share. @returns its reserved tokens; null when the store decides */
export function takeFree(
  { elapsedMs, terms }: Pick<RateShareDeps, 'elapsedMs' | 'terms'>,
  share: RateShare,
  { prompt, answer }: CallTokens,
): number | null {
  const { limits, free } = share
  const now = elapsedMs()
  if (limits.concurrent !== null && (share.held <= share.active || now - share.last.at > terms.leaseMs / 2)) return null
  const requests = limits.requestsPerMinute === null ? 0 : 1
  const tokens = limits.tokensPerMinute === null ? 0 : prompt + answer
  if (requests + tokens > 0 && now >= share.freeUntil) return null
  if (free.requests < requests || free.tokens < tokens) return null
  share.free = { requests: free.requests - requests, tokens: free.tokens - tokens }
  return tokens
}

/**
 * Takes a turn in the store: gives back what calls did not use, and asks for what waiting ones need. Calls that something
 * becomes free for soon wait on.
 */
export async function takeShare(deps: RateShareDeps, share: RateShare): Promise<'granted' | 'refused' | 'failed'> {
  const { store, terms, elapsedMs } = deps
  const asked = share.waiting.splice(0)
  const now = elapsedMs()
  if (asked.length > 0 || now >= share.freeUntil) returnFree(share)
  const { refunds, overrun, answered, held } = share
  const turn = turnOf(deps, share, asked, now)
  // Calls may begin meanwhile, in the places of those that end.
  share.held = Math.min(share.held, share.active)
  share.refunds = new Map()
  share.overrun = 0
  share.answered = null
  try {
    const result = await exchangeTurn(store, share.keyId, turn, terms)
    share.turn = null
    share.held = result.places
    share.last = { left: result.left, resetMs: result.resetMs, at: now }
    if (asked.length === 0) return 'granted'
    Object.assign(share, { n: result.n, free: result.spare, freeUntil: now + terms.usableMs })
    return answerCalls(deps, share, asked, result)
  } catch (error) {
    share.held = held
    for (const [n, amounts] of refunds) refund(share, n, amounts)
    share.overrun += overrun
    share.answered = Math.max(share.answered ?? 0, answered ?? 0)
    for (const { reject } of asked) reject(error)
    if (asked.length === 0) deps.onError(error)
    return 'failed'
  }
}

function turnOf(
  { holder, terms, nextTurn }: RateShareDeps,
  share: RateShare,
  asked: readonly WaitingCall[],
  now: number,
): WindowTurn {
  const { limits, refunds, overrun, answered, active } = share
  share.turn ??= nextTurn()
  const pace = asked.length > 0 ? paceOf(share, now, terms) : NONE
  return {
    holder,
    turn: share.turn,
    limits,
    refunds: [...refunds].map(([n, amounts]) => ({ n, ...amounts })),
    overrun,
    answered,
    inFlight: { places: active, tokens: share.reserved },
    calls: asked.map(({ tokens }) => tokens),
    spare: {
      requests: SPARE_PACE * pace.requests,
      tokens: SPARE_PACE * pace.tokens,
      places: sparePlaces(share, asked.length),
    },
    patienceMs: PATIENCE_MS,
  }
}

/** Amounts that calls have lately taken while a grant may be used. Grows with the calls, and is none when they are rare. */
function paceOf(share: RateShare, now: number, { usableMs }: WindowTerms): Amounts {
  const passed = now - share.begunFrom
  if (passed >= usableMs) {
    share.begunBefore = passed < 2 * usableMs ? share.begun : NONE
    share.begun = { ...NONE }
    share.begunFrom = now
  }
  const { begun, begunBefore } = share
  return {
    requests: Math.max(begun.requests, begunBefore.requests),
    tokens: Math.max(begun.tokens, begunBefore.tokens),
  }
}

/** Gives each call what it was granted, or its refusal; those that may soon begin wait on. */
function answerCalls(
  deps: RateShareDeps,
  share: RateShare,
  asked: readonly WaitingCall[],
  { n, calls }: TurnResult,
): 'granted' | 'refused' {
  const now = deps.elapsedMs()
  const waiting: WaitingCall[] = []
  for (const [i, call] of asked.entries()) {
    const outcome = calls[i] as number | RateRefusal
    const { tokens, askedAt } = call
    if (typeof outcome === 'number') call.resolve(beginIn(deps, share, { n, reserved: outcome, tokens }))
    else if (outcome.isHeld ? now - askedAt < PATIENCE_MS : now + outcome.retryMs < askedAt + PATIENCE_MS)
      waiting.push(call)
    else call.reject(tooMany(share, outcome, tokens, now))
  }
  share.waiting.unshift(...waiting)
  return calls.some((outcome) => typeof outcome !== 'number') ? 'refused' : 'granted'
}

function refund(share: RateShare, n: number, { requests, tokens }: Amounts): void {
  if (requests === 0 && tokens === 0) return
  const known = share.refunds.get(n) ?? NONE
  share.refunds.set(n, { requests: known.requests + requests, tokens: known.tokens + tokens })
}

function returnFree(share: RateShare): void {
  refund(share, share.n, share.free)
  share.free = NONE
}

/** Places that are kept beside those of calls in flight. */
const sparePlaces = ({ limits: { concurrent }, active, peak }: RateShare, asked: number): number =>
  concurrent === null || concurrent < KEPT_PLACES_FROM ? 0 : Math.max(0, peak - active) + asked

/** Tells whether other processes may need at once what calls gave back. */
export function isUrgent(share: RateShare): boolean {
  const { concurrent, tokensPerMinute } = share.limits
  if (concurrent !== null && concurrent < KEPT_PLACES_FROM && share.held > share.active) return true
  if (tokensPerMinute === null) return false
  let tokens = share.overrun
  for (const refunded of share.refunds.values()) tokens += refunded.tokens
  return tokens > tokensPerMinute / URGENT_PART
}

/** Tells whether the store is to learn of a change, or that this process lives. */
export function isDue(share: RateShare, now: number, { leaseMs }: WindowTerms): boolean {
  const { free, held, active, peak } = share
  if (share.refunds.size > 0 || share.overrun > 0 || held > Math.max(active, peak)) return true
  if (free.requests + free.tokens > 0 && now >= share.freeUntil) return true
  return held > 0 && now - share.last.at >= leaseMs / RENEWALS
}

/** Tells whether a share holds nothing, and nothing of it is to be written. */
export const isIdle = ({ active, held, waiting, running, refunds, overrun, free }: RateShare): boolean =>
  active + held + waiting.length + refunds.size + overrun + free.requests + free.tokens === 0 && running === null
