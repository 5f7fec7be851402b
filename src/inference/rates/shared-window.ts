/** Number of parts of a window. Use within one part is one entry, so that a window has few. */
const PARTS = 100
/** Part of a limit, as its divisor, that a process may hold beyond the need of its calls. */
const SPARE_OF_LIMIT = 100
/** The same of what is left, so that the last calls reach any process. */
const SPARE_OF_LEFT = 8
/** Factor by which the remembered size of an answer shrinks with each smaller one. */
const FORGETTING = 0.9
/** Time after which to retry what calls in flight keep out, in milliseconds: when they end is unknown. */
const IN_FLIGHT_MS = 1000

/** Requests and tokens. */
export interface Amounts {
  requests: number
  tokens: number
}

/** Rate limits of a key. Null: no limit. */
export interface RateLimits {
  requestsPerMinute: number | null
  tokensPerMinute: number | null
  /** Calls at a time. */
  concurrent: number | null
}

/** Durations of a window, in milliseconds. */
export interface WindowTerms {
  windowMs: number
  /** Time in which a process may use what it was granted. */
  usableMs: number
  /** Time after which the places of a process that is silent go to others. */
  leaseMs: number
}

/** Use that was granted at about one time. */
interface Use extends Amounts {
  /** Number of the use, by which the unused part is given back. */
  n: number
  from: number
  /** End of the time in which it may be used. It counts for a window from then on. */
  until: number
}

/** Calls in flight of one process. */
interface Holder {
  /** Number of its last turn. */
  turn: number
  /** Places that it holds of the calls at a time. */
  places: number
  /** Tokens that its calls in flight have reserved. */
  tokens: number
  /** Time of its last turn. */
  at: number
}

/** Recent use of a key by all processes of a store. Times are the store's, in milliseconds since 1970. */
export interface SharedWindow {
  at: number
  /** Number of the last use. */
  n: number
  uses: Use[]
  holders: Record<string, Holder>
  /** Tokens of a long recent answer. Null before the first. */
  answer: number | null
}

/** Use of a key that has made no call. */
export const EMPTY_WINDOW: SharedWindow = { at: 0, n: 0, uses: [], holders: {}, answer: null }

/** Tokens that a call needs. */
export interface CallTokens {
  /** Of its prompt, estimated. */
  prompt: number
  /** The most that it may answer. */
  answer: number
}

/** One change by a process: what its calls gave back, and what the next ones need. */
export interface WindowTurn {
  holder: string
  /** Sequence number, from 1: a turn that is sent again gives nothing back twice. */
  turn: number
  limits: RateLimits
  /** Unused parts of granted uses. */
  refunds: readonly (Amounts & { n: number })[]
  /** Tokens that calls used beyond what they had reserved. */
  overrun: number
  /** Longest answer since the last turn. Null when none has ended. */
  answered: number | null
  /** Calls in flight, and the tokens that they have reserved. */
  inFlight: { places: number; tokens: number }
  /** Calls that wait to begin. */
  calls: readonly CallTokens[]
  /** Amounts and places that suit the next calls of the process. */
  spare: Amounts & { places: number }
  /** Time that a call rather waits than is refused, in milliseconds. */
  patienceMs: number
}

/** The limit that refuses a call. */
export interface RateRefusal {
  by: 'requests' | 'tokens' | 'concurrent'
  /** Time until the call fits, as far as known. */
  retryMs: number
  /** True when calls in flight hold what it needs, and may end sooner. */
  isHeld: boolean
}

/** Result of a turn. */
export interface TurnResult {
  /** Number of the use that was granted. */
  n: number
  /** Reserved tokens of each call, or its refusal. */
  calls: (number | RateRefusal)[]
  spare: Amounts
  /** Places that the process holds. */
  places: number
  /** Amounts that no process holds. `Infinity` without a limit. */
  left: Amounts
  /** Time until each limit is whole again. */
  resetMs: Amounts
}

/**
 * Applies a turn to the window of a key. Its sums never exceed a limit within any `windowMs`.
 *
 * @param at the store's time
 * @returns the window after it, and what the process got
 */
export function takeTurn(
  before: SharedWindow,
  turn: WindowTurn,
  at: number,
  terms: WindowTerms,
): { window: SharedWindow; result: TurnResult } {
  const window = passTime(before, at, terms)
  giveBack(window, turn, terms)
  const left = leftOf(window, turn)
  const calls = grantCalls(window, turn, left, terms)
  const began = calls.filter((tokens): tokens is number => typeof tokens === 'number')
  const tokens = began.reduce((sum, reserved) => sum + reserved, 0)
  const { limits, inFlight } = turn
  const spare = {
    requests: spareOf(turn.spare.requests, limits.requestsPerMinute, left.requests),
    tokens: spareOf(turn.spare.tokens, limits.tokensPerMinute, left.tokens),
  }
  const requests = limits.requestsPerMinute === null ? 0 : began.length
  const n = addUse(window, { requests: requests + spare.requests, tokens: tokens + spare.tokens }, terms)
  const sparePlaces = Math.max(0, Math.min(turn.spare.places, Math.floor(left.places / SPARE_OF_LEFT)))
  const places = limits.concurrent === null ? 0 : inFlight.places + began.length + sparePlaces
  window.holders[turn.holder] = { turn: turn.turn, places, tokens: inFlight.tokens + tokens, at: window.at }
  const free = { requests: left.requests - spare.requests, tokens: left.tokens - spare.tokens }
  const resetMs = {
    requests: untilFree(window, 'requests', Infinity, terms),
    tokens: untilFree(window, 'tokens', Infinity, terms),
  }
  return { window, result: { n, calls, spare, places, left: free, resetMs } }
}

/** Largest step back of the clock, in windows, that clocks of several processors explain. */
const JITTER = 1 / 20

/** Copies a window and drops what no longer counts. A clock that is set back lets no time pass. */
function passTime(
  { at: last, n, uses, holders, answer }: SharedWindow,
  now: number,
  { windowMs, leaseMs }: WindowTerms,
): SharedWindow {
  const setBackMs = last - now > windowMs * JITTER ? last - now : 0
  const at = Math.max(now, last - setBackMs)
  const moved = (time: number) => time - setBackMs
  return {
    at,
    n,
    uses: uses
      .map((use) => ({ ...use, from: moved(use.from), until: moved(use.until) }))
      .filter(({ until }) => until + windowMs > at),
    holders: Object.fromEntries(
      Object.entries(holders)
        .map(([id, holder]) => [id, { ...holder, at: moved(holder.at) }] as const)
        .filter(([, holder]) => holder.at + leaseMs > at),
    ),
    answer,
  }
}

/** Gives back what calls did not use, and counts what they used beyond it. */
function giveBack(window: SharedWindow, turn: WindowTurn, terms: WindowTerms): void {
  const { holder, refunds, overrun, answered } = turn
  // Given back before: the connection was lost after the commit.
  const isRepeated = (window.holders[holder]?.turn ?? 0) >= turn.turn
  for (const { n, requests, tokens } of isRepeated ? [] : refunds) {
    const use = window.uses.find((known) => known.n === n)
    if (use === undefined) continue
    use.requests = Math.max(0, use.requests - requests)
    use.tokens = Math.max(0, use.tokens - tokens)
  }
  addUse(window, { requests: 0, tokens: overrun }, terms)
  if (answered !== null) window.answer = Math.max(answered, Math.floor((window.answer ?? 0) * FORGETTING))
}

type Left = Amounts & { places: number }

function leftOf(window: SharedWindow, { holder, limits, inFlight }: WindowTurn): Left {
  const used = (of: keyof Amounts) => window.uses.reduce((sum, use) => sum + use[of], 0)
  return {
    requests: (limits.requestsPerMinute ?? Infinity) - used('requests'),
    tokens: (limits.tokensPerMinute ?? Infinity) - used('tokens'),
    places: (limits.concurrent ?? Infinity) - heldByOthers(window, holder, 'places') - inFlight.places,
  }
}

const heldByOthers = ({ holders }: SharedWindow, holder: string, of: 'places' | 'tokens'): number =>
  Object.entries(holders).reduce((sum, [id, held]) => sum + (id === holder ? 0 : held[of]), 0)

/** Counts a use in the present part of the window. @returns its number */
function addUse(window: SharedWindow, { requests, tokens }: Amounts, { windowMs, usableMs }: WindowTerms): number {
  if (requests === 0 && tokens === 0) return window.n
  const until = window.at + usableMs
  const last = window.uses.at(-1)
  if (last !== undefined && window.at - last.from < windowMs / PARTS) {
    last.requests += requests
    last.tokens += tokens
    last.until = until
    return last.n
  }
  window.n += 1
  window.uses.push({ n: window.n, from: window.at, until, requests, tokens })
  return window.n
}

/** Part of what is left that a process may hold for its next calls. */
const spareOf = (wish: number, limit: number | null, left: number): number =>
  limit === null ? 0 : Math.max(0, Math.min(wish, Math.floor(limit / SPARE_OF_LIMIT), Math.floor(left / SPARE_OF_LEFT)))

/** Grants calls in their order what they need, and takes it from what is left. */
function grantCalls(window: SharedWindow, turn: WindowTurn, left: Left, terms: WindowTerms): TurnResult['calls'] {
  const { limits, patienceMs } = turn
  let inFlight = heldByOthers(window, turn.holder, 'tokens') + turn.inFlight.tokens
  // Calls that wait for what becomes free precede later ones.
  const ahead: Amounts = { requests: 0, tokens: 0 }
  return turn.calls.map((call) => {
    const { least, most } = tokensFor(call, limits.tokensPerMinute, window.answer)
    const needs = { requests: 1 + ahead.requests, tokens: least + ahead.tokens }
    const refusal = refusalFor({ window, limits, left, inFlight }, needs, terms)
    if (refusal === null) {
      const tokens = Math.min(most, left.tokens - ahead.tokens)
      left.requests -= 1
      left.tokens -= tokens
      left.places -= 1
      inFlight += tokens
      return tokens
    }
    if (refusal.retryMs <= patienceMs) {
      ahead.requests += 1
      ahead.tokens += least
    }
    return refusal
  })
}

/**
 * Tokens that a call reserves: its prompt and its whole answer. When less is left, it reserves that, if a long recent answer
 * fits.
 */
function tokensFor({ prompt, answer }: CallTokens, limit: number | null, known: number | null) {
  if (limit === null) return { least: 0, most: 0 }
  const most = Math.min(prompt + answer, Math.max(prompt, limit))
  return { least: Math.min(most, prompt + Math.min(answer, known ?? answer)), most }
}

function refusalFor(
  { window, limits, left, inFlight }: { window: SharedWindow; limits: RateLimits; left: Left; inFlight: number },
  needs: Amounts,
  terms: WindowTerms,
): RateRefusal | null {
  if (left.requests < needs.requests) {
    const retryMs = untilFree(window, 'requests', needs.requests - left.requests, terms)
    return { by: 'requests', retryMs, isHeld: false }
  }
  if (left.tokens < needs.tokens) {
    const lacking = needs.tokens - left.tokens
    if (needs.tokens > (limits.tokensPerMinute ?? 0)) return { by: 'tokens', retryMs: terms.windowMs, isHeld: false }
    const retryMs = untilFree(window, 'tokens', lacking, terms)
    const isHeld = lacking <= inFlight
    return { by: 'tokens', retryMs: isHeld ? Math.min(retryMs, IN_FLIGHT_MS) : retryMs, isHeld }
  }
  return left.places < 1 ? { by: 'concurrent', retryMs: IN_FLIGHT_MS, isHeld: true } : null
}

/** Time until so much leaves the window, in milliseconds; until it is empty when that is more than it has. */
function untilFree({ at, uses }: SharedWindow, of: keyof Amounts, lacking: number, { windowMs }: WindowTerms): number {
  let freed = 0
  let freeAt = at
  for (const use of uses.toSorted((a, b) => a.until - b.until)) {
    if (use[of] === 0) continue
    freed += use[of]
    freeAt = use.until + windowMs
    if (freed >= lacking) break
  }
  return freeAt - at
}
