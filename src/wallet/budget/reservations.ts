import { randomUUID } from 'node:crypto'
import type { CallSpend } from '../../calls/call-spend.ts'
import type { Store } from '../../store/store.ts'
import { newId } from '../../text/ids.ts'
import type { Micros } from '../../text/money.ts'
import { type AllowanceOf, giveBackAllowance, LEASE_MS, renewAllowances, takeAllowance } from './allowances.ts'
import { dayOf, type Spender } from './spending.ts'

/** Fewest calls that an allowance is sized for; more if more run at once. */
const CALLS = 8
/** Time without a call after which an allowance is given back, and interval of the checks, in milliseconds. */
const IDLE_MS = 250
/** Number of intervals of {@link IDLE_MS} that the allowance of a busy key should last. */
const LASTS = 4
/** Interval between renewals in milliseconds; several fit into one lease. */
const RENEWED_MS = LEASE_MS / 5

const DAY_MS = 86_400_000

/** Payer of a call and its limits. */
export interface Payer {
  spender: Spender
  /** Credit beyond its deposits; null when its calls are not charged. */
  creditMicros: Micros | null
  /** Fingerprint of its budgets and its group's, which changes with them; null when there are none. */
  budgets: string | null
}

/** An amount taken from a reservation and not written yet. */
export interface Taken extends CallSpend {
  /** Frees the amount after a failed write. */
  undo(): void
}

/** Money and budget reserved for one call. */
export interface Reservation {
  /** Reserved and not taken yet; `Infinity` for a caller without limits. */
  left(): Micros
  /**
   * Reserves more.
   *
   * @param payer the payer as it is now: changed limits apply to what is reserved from here on
   * @returns whether enough was left
   */
  extend(micros: Micros, payer?: Payer | null): Promise<boolean>
  /** Takes the amount spent, at most what is left. */
  take(micros: Micros): Taken
  /** Frees the rest. Call it once the call is over, whatever its outcome. */
  end(): void
}

/** The reservations of this process. */
export interface Reservations {
  /**
   * Reserves the most that a call can cost. Works in memory while this process has an allowance for it.
   *
   * @returns a promise only when the store is asked
   * @throws GazewayError `insufficient_credit` or `budget_reached`
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
  reserve(payer: Payer, micros: Micros): Reservation | Promise<Reservation>
  /** Gives back the unused allowances of a key, so that its balance shows them. */
  giveBackIdle(keyId: string): Promise<void>
  /** Gives back unused allowances and stops the timers. Running calls still end. */
  close(): Promise<void>
}

/** An allowance of this process and its use. */
interface Pool {
  of: AllowanceOf
  free: Micros
  /** Calls that hold a part of it. */
  calls: number
  /** Recent peak of concurrent calls; halves with each interval that has fewer. */
  peak: number
  /** Taken and not written yet. */
  unwritten: Micros
  /** The last amount that was drawn. */
  call: Micros
  /** Amount taken in the current interval. */
  taken: Micros
  /** Recent peak of the amount taken in an interval; halves with each that takes less. */
  pace: Micros
  turn: number
  /** A return in progress, until the store confirms it; `turn` is null before the first attempt. */
  returning: { micros: Micros; turn: number | null } | null
  /** True when the store may have granted more than is known here, because a request for more failed. */
  isDoubtful: boolean
  usedAt: number
  /** The budgets it was taken under; changed budgets apply at once. */
  budgets: string | null
  /** Serialises changes in the store. */
  changing: Promise<unknown>
}

/** Dependencies of {@link createReservations}. */
export interface ReservationsDeps {
  store: Store
  now: () => Date
  onError: (error: unknown) => void
  /** Monotonic clock in milliseconds; the process's own by default. */
  elapsedMs?: () => number
}

/** A reservation without limits: nothing is reserved. */
function unbounded(spender: Spender, day: string): Reservation {
  return {
    left: () => Infinity,
    extend: async () => true,
    take: (micros) => ({ spender, day, micros, allowanceId: null, written() {}, undo() {} }),
    end() {},
  }
}

/** Creates reservations backed by allowances in `store`. This process takes them, renews them and gives them back. */
export function createReservations(deps: ReservationsDeps): Reservations {
  const { store, now, onError, elapsedMs = () => performance.now() } = deps
  const holder = randomUUID()
  const pools = new Map<string, Pool>()
  const old = new Set<Pool>()
  let timer: NodeJS.Timeout | undefined
  let renewedAt = elapsedMs()
  let day = { from: Number.POSITIVE_INFINITY, name: '' }

  /** The UTC day, cached for the calls of one day. */
  function today(): string {
    const at = now().getTime()
    if (at < day.from || at >= day.from + DAY_MS) {
      const from = Math.floor(at / DAY_MS) * DAY_MS
      day = { from, name: dayOf(new Date(from).toISOString()) }
    }
    return day.name
  }

  function poolFor({ spender, creditMicros, budgets }: Payer, day: string): Pool {
    const key = keyOf(spender, day)
    const known = pools.get(key)
    const isSame =
      known?.budgets === budgets &&
      known.of.creditMicros === creditMicros &&
      known.of.spender.groupId === spender.groupId
    if (known && isSame) return known
    if (known) retire(known)
    const of = { id: newId('alw'), holder, spender, day, creditMicros }
    const pool: Pool = {
      of,
      free: 0,
      calls: 0,
      peak: 0,
      unwritten: 0,
      call: 0,
      taken: 0,
      pace: 0,
      turn: 0,
      returning: null,
      isDoubtful: false,
      usedAt: elapsedMs(),
      budgets,
      changing: Promise.resolve(),
    }
    pools.set(key, pool)
    if (timer === undefined) {
      timer = setInterval(maintain, IDLE_MS).unref()
      renewedAt = elapsedMs()
    }
    return pool
  }

  /** Size of an allowance for the current use of a pool. */
  const sizeFor = ({ call, peak, taken, pace }: Pool): Micros =>
    Math.max(call * Math.max(CALLS, peak), Math.max(taken, pace) * LASTS)

  /** Draws `micros` from a pool's free amount. @returns whether it was enough */
  function drawFree(pool: Pool, micros: Micros): boolean {
    pool.call = micros
    if (pool.free < micros) return false
    pool.free -= micros
    return true
  }

  /** Draws `micros` from a pool after asking the store for the missing part. */
  async function more(pool: Pool, micros: Micros): Promise<void> {
    const change = pool.changing.then(async () => {
      await sendBack(pool)
      if (pool.free >= micros) return
      const turn = { turn: ++pool.turn, at: now().toISOString() }
      const needed = micros - pool.free
      const granted = await takeAllowance(store, pool.of, { ...turn, needed, wanted: needed + sizeFor(pool) - micros })
      // Not `pool.free += await …`: that reads `free` first, and loses what calls free or draw during the wait.
      pool.free += granted
    })
    // A refusal belongs to one call, which receives it through `change`; later calls ask again.
    pool.changing = change.catch((error: unknown) => {
      if (isRefusal(error)) return
      pool.isDoubtful = true
      retire(pool)
    })
    return change
  }

  /** Takes a part of the free amount. Asks again when another call took it meanwhile. */
  async function draw(pool: Pool, micros: Micros): Promise<void> {
    do await more(pool, micros)
    while (pool.free < micros)
    pool.free -= micros
  }

  /** Gives back the free amount except `kept`, after earlier changes. */
  function giveBack(pool: Pool, kept: Micros = 0): void {
    if (pool.returning === null) {
      if (pool.free <= kept) return
      pool.returning = { micros: pool.free - kept, turn: null }
      pool.free = kept
    }
    pool.changing = pool.changing
      .then(() => sendBack(pool))
      .catch((error: unknown) => {
        retire(pool)
        onError(error)
      })
  }

  /**
   * Sends the pending return to the store. A failed attempt may have been committed, so it is retried under the same
   * turn before any other change. Call it only within the pool's chain of changes.
   */
  async function sendBack(pool: Pool): Promise<void> {
    const { returning } = pool
    if (returning === null) return
    returning.turn ??= ++pool.turn
    const { micros, turn } = returning
    await giveBackAllowance(store, pool.of, { micros, turn, at: now().toISOString() })
    pool.returning = null
  }

  /** Closes a pool to new calls. Its free amount goes back; its running calls end in it. */
  function retire(pool: Pool): void {
    const key = keyOf(pool.of.spender, pool.of.day)
    if (pools.get(key) === pool) pools.delete(key)
    old.add(pool)
  }

  /** Gives back what was granted under earlier limits: the store decides again how much a running call may reserve. */
  function applyChanges(pool: Pool, { budgets, creditMicros }: Payer): void {
    if (pool.budgets === budgets && pool.of.creditMicros === creditMicros) return
    const isCharged = pool.of.creditMicros !== null && creditMicros !== null
    if (isCharged) pool.of = { ...pool.of, creditMicros }
    retire(pool)
    giveBack(pool)
  }

  /**
   * Retires all pools after a gap longer than the lease, such as a suspension: the store may have given their money to
   * other processes.
   */
  function forgetLost(): void {
    const at = elapsedMs()
    if (at - renewedAt < LEASE_MS) return
    renewedAt = at
    for (const pool of pools.values()) retire(pool)
  }

  function maintain(): void {
    forgetLost()
    const at = elapsedMs()
    const present = today()
    for (const [key, pool] of pools) {
      pool.pace = Math.max(pool.taken, Math.floor(pool.pace / 2))
      pool.peak = Math.max(pool.calls, Math.floor(pool.peak / 2))
      pool.taken = 0
      const isIdle = pool.calls === 0 && at - pool.usedAt >= IDLE_MS
      const size = sizeFor(pool)
      if (isIdle || pool.of.day !== present) giveBack(pool)
      else if (pool.free > 2 * size) giveBack(pool, size)
      if (isIdle && isEmpty(pool)) pools.delete(key)
    }
    for (const pool of old) {
      if (isEmpty(pool) && pool.isDoubtful) {
        // Gives back all that the store has of it: no call of this process uses it any more.
        pool.free = Number.MAX_SAFE_INTEGER
        pool.isDoubtful = false
      }
      giveBack(pool)
      if (isEmpty(pool)) old.delete(pool)
    }
    if (pools.size === 0 && old.size === 0) {
      clearInterval(timer)
      timer = undefined
    } else if (at - renewedAt >= RENEWED_MS)
      renewAllowances(store, holder, now().toISOString()).then(() => {
        renewedAt = at
      }, onError)
  }

  function reservationIn(pool: Pool, first: Micros): Reservation {
    let left = first
    let isOver = false
    return {
      left: () => left,
      async extend(micros, payer = null) {
        if (payer !== null) applyChanges(pool, payer)
        try {
          if (!drawFree(pool, micros)) await draw(pool, micros)
        } catch (error) {
          if (isRefusal(error)) return false
          throw error
        }
        if (isOver) {
          // The client of the call left meanwhile, and the pool may already be retired.
          pool.free += micros
          giveBack(pool)
          return false
        }
        left += micros
        return true
      },
      take(micros) {
        const taken = Math.min(micros, left)
        left -= taken
        pool.unwritten += taken
        pool.taken += taken
        return {
          spender: pool.of.spender,
          day: pool.of.day,
          micros: taken,
          allowanceId: pool.of.id,
          written() {
            pool.unwritten -= taken
          },
          undo() {
            pool.unwritten -= taken
            pool.free += taken
            // The failed write may have been committed.
            retire(pool)
          },
        }
      },
      end() {
        if (isOver) return
        isOver = true
        pool.calls -= 1
        pool.free += left
        pool.usedAt = elapsedMs()
        left = 0
      },
    }
  }

  return {
    reserve(payer, micros) {
      const day = today()
      if (payer.budgets === null && payer.creditMicros === null) return unbounded(payer.spender, day)
      forgetLost()
      const pool = poolFor(payer, day)
      pool.calls += 1
      pool.peak = Math.max(pool.peak, pool.calls)
      if (drawFree(pool, micros)) return reservationIn(pool, micros)
      return draw(pool, micros).then(
        () => reservationIn(pool, micros),
        (error: unknown) => {
          pool.calls -= 1
          throw error
        },
      )
    },

    async giveBackIdle(keyId) {
      const idle = [...pools.values(), ...old].filter(({ of, calls }) => of.spender.id === keyId && calls === 0)
      for (const pool of idle) giveBack(pool)
      await Promise.all(idle.map(({ changing }) => changing))
    },

    async close() {
      clearInterval(timer)
      const all = [...pools.values(), ...old]
      for (const pool of all) giveBack(pool)
      await Promise.all(all.map((pool) => pool.changing))
    },
  }
}

const keyOf = ({ id }: Spender, day: string): string => `${id} ${day}`

const isEmpty = ({ calls, free, unwritten, returning }: Pool): boolean =>
  calls === 0 && free === 0 && unwritten === 0 && returning === null

const isRefusal = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'budget_reached' || error.code === 'insufficient_credit')
