import { randomUUID } from 'node:crypto'
import type { Store } from '../../store/store.ts'
import type { Micros } from '../../text/money.ts'
import type { Journal } from '../journal/journal.ts'
import { draw, drawFree } from './allowance-pool.ts'
import { createPools } from './allowance-pools.ts'
import type { Wish } from './call-share.ts'
import { type Payer, type Reservation, reservationIn, unbounded } from './reservation.ts'
import { dayOf } from './spending.ts'

const DAY_MS = 86_400_000

/** The reservations of this process. */
export interface Reservations {
  /**
   * Reserves the most that a call can cost. Works in memory while this process has an allowance for it.
   *
   * @param asked the cost of the call; least and most where a part of what is free suits it
   * @returns a promise only when the store is asked
   * @throws GazewayError `insufficient_credit` or `budget_reached`; `HeldByOthers` when calls in flight may free enough
   *
   * @example
   * async function spend(reservations: ReturnType<typeof createReservations>, spender: { id: string; groupId: null }) {
   *   const reservation = await reservations.reserve({ spender, creditMicros: 0, budgets: null }, 20_000)
   *   try {
   *     reservation.take(12_500)
   *   } finally {
   *     reservation.end()
   *   }
   * }
   */
  reserve(payer: Payer, asked: Micros | Wish): Reservation | Promise<Reservation>
  /** Gives back the unused allowances of a key, so that its balance shows them. */
  giveBackIdle(keyId: string): Promise<void>
  /** Gives back what no call of this process uses of the budgets that a payer shares, so that its call may have it. */
  giveBackBeside(payer: Payer): Promise<void>
  /** Gives back unused allowances and stops the timers. Running calls still end. */
  close(): Promise<void>
}

/** Dependencies of {@link createReservations}. */
export interface ReservationsDeps {
  store: Store
  now: () => Date
  onError: (error: unknown) => void
  /** Monotonic clock in milliseconds; the process's own by default. */
  elapsedMs?: () => number
  /** Journal of this process; none by default. */
  journal?: Pick<Journal, 'holder' | 'mark'>
}

/** Creates reservations backed by allowances in `store`. This process takes them, renews them and gives them back. */
export function createReservations(deps: ReservationsDeps): Reservations {
  const { store, now, onError, elapsedMs = () => performance.now() } = deps
  const { holder, mark } = deps.journal ?? { holder: randomUUID(), mark() {} }
  const today = dayClock(now)
  const pools = createPools({ store, now, onError, elapsedMs, today, holder, mark })
  const within = { ...pools, elapsedMs }
  return {
    reserve(payer, asked) {
      const wish = typeof asked === 'number' ? { least: asked, most: asked } : asked
      const day = today()
      if (payer.budgets === null && payer.creditMicros === null) return unbounded(payer.spender, day)
      const pool = pools.of(payer, day)
      pool.calls += 1
      pool.peak = Math.max(pool.peak, pool.calls)
      const free = drawFree(pools, pool, wish)
      if (free !== null) return reservationIn(within, pool, free)
      return draw(pools, pool, wish).then(
        (micros) => reservationIn(within, pool, micros),
        (error: unknown) => {
          pool.calls -= 1
          throw error
        },
      )
    },
    giveBackIdle: pools.giveBackIdle,
    giveBackBeside: pools.giveBackBeside,
    close: pools.close,
  }
}

/** Tells the UTC day. Cached, as many calls begin on one day. */
function dayClock(now: () => Date): () => string {
  let day = { from: Number.POSITIVE_INFINITY, name: '' }
  return () => {
    const at = now().getTime()
    if (at < day.from || at >= day.from + DAY_MS) {
      const from = Math.floor(at / DAY_MS) * DAY_MS
      day = { from, name: dayOf(new Date(from).toISOString()) }
    }
    return day.name
  }
}
