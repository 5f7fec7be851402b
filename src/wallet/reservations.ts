import { randomUUID } from 'node:crypto'
import type { CallSpend } from '../calls/call-spend.ts'
import type { Store } from '../store/store.ts'
import { newId } from '../text/ids.ts'
import type { Micros } from '../text/money.ts'
import { type AllowanceOf, giveBackAllowance, LEASE_MS, renewAllowances, takeAllowance } from './allowances.ts'
import { dayOf, type Spender } from './spending.ts'

/** How many calls like the one that needs it an allowance is taken for. */
const CALLS = 8
/** How long an allowance that no call uses is kept, in milliseconds. */
const IDLE_MS = 250
/** How often allowances are renewed, in milliseconds: several times before they would be given back. */
const RENEWED_MS = LEASE_MS / 5

const DAY_MS = 86_400_000

/** Who pays for a call, and within which bounds. */
export interface Payer {
  spender: Spender
  /** How far it may spend beyond its deposits; null where its calls are not charged. */
  creditMicros: Micros | null
  /** Its budgets and its group's in words that change with them; null where there are none. */
  budgets: string | null
}

/** What was taken of a reservation, until it is written. */
export interface Taken extends CallSpend {
  /** It could not be written: it is free again. */
  undo(): void
}

/** Money and budget that are set aside for one call. */
export interface Reservation {
  /** What is set aside and not taken yet; without end where the caller has no bounds. */
  left(): Micros
  /** Sets more aside. @returns whether there was as much */
  extend(micros: Micros): Promise<boolean>
  /** Takes what was spent, at most what is left. */
  take(micros: Micros): Taken
  /** Gives the rest back; to be called once the call is over, whatever came of it. */
  end(): void
}

/** The reservations of this process. */
export interface Reservations {
  /**
   * Sets the most that a call can cost aside, in memory where this process has an allowance for it.
   *
   * @returns a promise only where the store is asked
   * @throws GazewayError `insufficient_credit` or `budget_reached`
   */
  reserve(payer: Payer, micros: Micros): Reservation | Promise<Reservation>
  /** Gives back what no call of a key needs just now, so that its balance shows it. */
  giveBackIdle(keyId: string): Promise<void>
  /** Gives back what no call needs, and keeps no timer; calls that are under way still end. */
  close(): Promise<void>
}

/** An allowance of this process, and what is in use of it. */
interface Pool {
  of: AllowanceOf
  free: Micros
  /** Calls that have a part of it. */
  calls: number
  /** Taken, and not written yet. */
  unwritten: Micros
  turn: number
  /** What is on its way back, until the store has it; the turn is null before the first try. */
  returning: { micros: Micros; turn: number | null } | null
  /** Whether the store may have set more aside for it than is known here: a take of it failed. */
  isDoubtful: boolean
  usedAt: number
  /** Under which it was taken: a change of them is to bind at once. */
  budgets: string | null
  /** Changes in the store, one after another. */
  changing: Promise<unknown>
}

/** What reservations are made with. */
export interface ReservationsDeps {
  store: Store
  now: () => Date
  onError: (error: unknown) => void
  /** A clock that is never set, in milliseconds; the process's own when absent. */
  elapsedMs?: () => number
}

/** No bounds: nothing is set aside. */
function unbounded(spender: Spender, day: string): Reservation {
  return {
    left: () => Infinity,
    extend: async () => true,
    take: (micros) => ({ spender, day, micros, allowanceId: null, written() {}, undo() {} }),
    end() {},
  }
}

/** Reservations out of allowances in `store`, which this process takes, renews and gives back. */
export function createReservations(deps: ReservationsDeps): Reservations {
  const { store, now, onError, elapsedMs = () => performance.now() } = deps
  const holder = randomUUID()
  const pools = new Map<string, Pool>()
  const old = new Set<Pool>()
  let timer: NodeJS.Timeout | undefined
  let renewedAt = elapsedMs()
  let day = { from: Number.POSITIVE_INFINITY, name: '' }

  /** The UTC day; many calls begin on the same one. */
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
      unwritten: 0,
      turn: 0,
      returning: null,
      isDoubtful: false,
      usedAt: elapsedMs(),
      budgets,
      changing: Promise.resolve(),
    }
    pools.set(key, pool)
    if (timer === undefined) {
      timer = setInterval(tend, IDLE_MS).unref()
      renewedAt = elapsedMs()
    }
    return pool
  }

  /** Sets `micros` of a pool aside, with more from the store where it has not as much. */
  async function more(pool: Pool, micros: Micros): Promise<void> {
    const change = pool.changing.then(async () => {
      await sendBack(pool)
      if (pool.free >= micros) return
      const turn = { turn: ++pool.turn, at: now().toISOString() }
      const needed = micros - pool.free
      pool.free += await takeAllowance(store, pool.of, { ...turn, needed, wanted: needed + micros * (CALLS - 1) })
    })
    // One call's refusal is not the next one's, who is told of it by `change`.
    pool.changing = change.catch((error: unknown) => {
      if (isRefusal(error)) return
      pool.isDoubtful = true
      retire(pool)
    })
    return change
  }

  /** Takes a part of what is free. Whoever waited for more may find it taken by another call. */
  async function draw(pool: Pool, micros: Micros): Promise<void> {
    do await more(pool, micros)
    while (pool.free < micros)
    pool.free -= micros
  }

  /** Gives back what is free, after the changes that were begun before. */
  function giveBack(pool: Pool): void {
    if (pool.returning === null) {
      if (pool.free === 0) return
      pool.returning = { micros: pool.free, turn: null }
      pool.free = 0
    }
    pool.changing = pool.changing
      .then(() => sendBack(pool))
      .catch((error: unknown) => {
        retire(pool)
        onError(error)
      })
  }

  /**
   * Sends back what is on its way. A try that failed may be durable all the same: it is made again as the same change, before
   * any other. Called in the order of the pool's changes alone.
   */
  async function sendBack(pool: Pool): Promise<void> {
    const { returning } = pool
    if (returning === null) return
    returning.turn ??= ++pool.turn
    const { micros, turn } = returning
    await giveBackAllowance(store, pool.of, { micros, turn, at: now().toISOString() })
    pool.returning = null
  }

  /** Has a pool serve no new calls: what is free of it goes back, and its calls end in it. */
  function retire(pool: Pool): void {
    const key = keyOf(pool.of.spender, pool.of.day)
    if (pools.get(key) === pool) pools.delete(key)
    old.add(pool)
  }

  /** After a suspension, or with the store out of reach for long, what was set aside may have been given to others. */
  function forgetLost(): void {
    const at = elapsedMs()
    if (at - renewedAt < LEASE_MS) return
    renewedAt = at
    for (const pool of pools.values()) retire(pool)
  }

  function tend(): void {
    forgetLost()
    const at = elapsedMs()
    const present = today()
    for (const [key, pool] of pools) {
      const isIdle = pool.calls === 0 && at - pool.usedAt >= IDLE_MS
      if (isIdle || pool.of.day !== present) giveBack(pool)
      if (isIdle && isEmpty(pool)) pools.delete(key)
    }
    for (const pool of old) {
      if (isEmpty(pool) && pool.isDoubtful) {
        // All that the store has of it: nothing here has a part of it any more.
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
      async extend(micros) {
        try {
          if (pool.free >= micros) pool.free -= micros
          else await draw(pool, micros)
        } catch (error) {
          if (isRefusal(error)) return false
          throw error
        }
        left += micros
        return true
      },
      take(micros) {
        const taken = Math.min(micros, left)
        left -= taken
        pool.unwritten += taken
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
            // It may have been written all the same.
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
      if (pool.free >= micros) {
        pool.free -= micros
        return reservationIn(pool, micros)
      }
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
