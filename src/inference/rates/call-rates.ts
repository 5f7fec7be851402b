import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Store } from '../../store/store.ts'
import { LEASE_MS } from '../../wallet/budget/allowances.ts'
import {
  beginIn,
  type CountedCall,
  isDue,
  isIdle,
  isUrgent,
  newShare,
  type RateShare,
  takeFree,
  takeShare,
} from './rate-share.ts'
import type { CallTokens, RateLimits } from './shared-window.ts'

const WINDOW_MS = 60_000
/** Part of a window, as its divisor, in which a process may use what it was granted. */
const USABLE_PART = 200
/** Interval of the checks for what goes back, in milliseconds. */
const CHECKED_MS = 250
/** Time after which what a call gave back goes to the store, in milliseconds: its process may need it at once. */
const RELEASED_MS = 10
/** Pause after a turn that refused a call, in milliseconds: many refused calls must not busy the store. */
const REFUSED_MS = 25

/** A call that counts against no rate limit. */
export const UNCOUNTED_CALL: CountedCall = { headers: Object.freeze({}), end() {} }

/** Enforces the rate limits of keys, over all processes of a store. */
export interface CallRates {
  /**
   * Begins a call. Works in memory while this process holds enough for it.
   *
   * @param tokensOf tells what the call may use, which counts until its use is known; asked for keys with limits only
   * @returns a promise only when the store is asked
   * @throws GazewayError `too_many_requests`, with the seconds to wait and the headers of {@link CountedCall};
   *   `store_unavailable`
   */
  begin(limits: RateLimits & { id: string }, tokensOf: () => CallTokens): CountedCall | Promise<CountedCall>
  /** Gives back what this process holds. Calls in flight still end. */
  close(): Promise<void>
}

/** Dependencies of {@link createCallRates}. */
export interface CallRatesDeps {
  store: Store
  onError: (error: unknown) => void
  /** Monotonic clock, in milliseconds. */
  elapsedMs?: () => number
  /** Length of a window; a minute by default. */
  windowMs?: number
  /** Time after which others get the places of a process that is silent. */
  leaseMs?: number
}

/** Creates the rate limiter of this process. It shares the limits of keys with the other processes of its store. */
export function createCallRates({
  store,
  onError,
  elapsedMs = () => performance.now(),
  windowMs = WINDOW_MS,
  leaseMs = LEASE_MS,
}: CallRatesDeps): CallRates {
  const shares = new Map<string, RateShare>()
  const terms = { windowMs, usableMs: windowMs / USABLE_PART, leaseMs }
  let turns = 0
  const deps = { store, holder: randomUUID(), terms, elapsedMs, onError, onEnd, nextTurn: () => ++turns }
  let timer: NodeJS.Timeout | undefined

  function shareOf(keyId: string, limits: RateLimits): RateShare {
    const known = shares.get(keyId)
    if (known !== undefined) return known
    const share = newShare(keyId, limits)
    shares.set(keyId, share)
    timer ??= setInterval(check, CHECKED_MS).unref()
    return share
  }

  /** Takes turns while calls wait, one at a time. */
  function run(share: RateShare): Promise<void> {
    share.running ??= work(share)
    return share.running
  }

  async function work(share: RateShare): Promise<void> {
    let end: Awaited<ReturnType<typeof takeShare>>
    do {
      end = await takeShare(deps, share)
      if (end === 'refused') await delay(REFUSED_MS)
    } while (share.waiting.length > 0)
    share.running = null
    // A turn that failed is taken again with the next check.
    if (end !== 'failed') onEnd(share)
  }

  function onEnd(share: RateShare): void {
    if (share.running !== null || share.release !== undefined || !isUrgent(share)) return
    share.release = setTimeout(() => {
      share.release = undefined
      if (isUrgent(share)) void run(share)
    }, RELEASED_MS).unref()
  }

  function check(): void {
    const now = elapsedMs()
    for (const [keyId, share] of shares) {
      if (isDue(share, now, terms)) void run(share)
      share.peak = share.active
      if (isIdle(share)) shares.delete(keyId)
    }
    if (shares.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    begin(limits, tokensOf) {
      const { requestsPerMinute, tokensPerMinute, concurrent } = limits
      if (requestsPerMinute === null && tokensPerMinute === null && concurrent === null) return UNCOUNTED_CALL
      const share = shareOf(limits.id, limits)
      share.limits = limits
      const tokens = tokensOf()
      const reserved = takeFree(deps, share, tokens)
      if (reserved !== null) return beginIn(deps, share, { n: share.n, reserved, tokens })
      return new Promise((resolve, reject) => {
        share.waiting.push({ tokens, askedAt: elapsedMs(), resolve, reject })
        void run(share)
      })
    },
    async close() {
      clearInterval(timer)
      const all = [...shares.values()]
      await Promise.all(all.map(({ running }) => running))
      for (const share of all) {
        clearTimeout(share.release)
        share.freeUntil = share.peak = 0
      }
      await Promise.all(all.filter((share) => isDue(share, elapsedMs(), terms)).map(run))
    },
  }
}
