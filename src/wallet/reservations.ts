import { randomUUID } from 'node:crypto'
import type { CallSpend } from '../calls/call-spend.ts'
import type { Store } from '../store/store.ts'
import { newId } from '../text/ids.ts'
import type { Micros } from '../text/money.ts'
import { type AllowanceOf, giveBackAllowance, LEASE_MS, renewAllowances, takeAllowance } from './allowances.ts'
import { dayOf, type Spender } from './spending.ts'

/** How many calls like the one that needs it an allowance is taken for. */
const CALLS = 32
/** How long an allowance that no call uses is kept, in milliseconds. */
const IDLE_MS = 1_000
/** How often allowances are renewed, in milliseconds: several times before they would be given back. */
const RENEWED_MS = LEASE_MS / 5

/** Who pays for a call, and within which bounds. */
export interface Payer {
  spender: Spender
  /** How far it may spend beyond its deposits; null where its calls are not charged. */
  creditMicros: Micros | null
  /** Its budgets and its group's in words that change with them; null where there are none. */
  budgets: string | null
}

/** Money and budget that are set aside for one call. */
export interface Reservation {
  /** What is set aside and not taken yet; without end where the caller has no bounds. */
  left(): Micros
  /** Sets more aside. @returns whether there was as much */
  extend(micros: Micros): Promise<boolean>
  /** Takes what was spent, at most what is left. */
  take(micros: Micros): CallSpend
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
    take: (micros) => ({ spender, day, micros, allowanceId: null, written() {} }),
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

  function poolFor({ spender, creditMicros, budgets }: Payer, day: string): Pool {
    const key = `${spender.id} ${day}`
    const known = pools.get(key)
    const isSame =
      known?.budgets === budgets &&
      known.of.creditMicros === creditMicros &&
      known.of.spender.groupId === spender.groupId
    if (known && isSame) return known
    // What is free of it goes back; its calls end in it.
    if (known) old.add(known)
    const of = { id: newId('alw'), holder, spender, day, creditMicros }
    const pool: Pool = {
      of,
      free: 0,
      calls: 0,
      unwritten: 0,
      turn: 0,
      usedAt: elapsedMs(),
      budgets,
      changing: Promise.resolve(),
    }
    pools.set(key, pool)
    timer ??= setInterval(tend, IDLE_MS).unref()
    return pool
  }

  /** Sets `micros` of a pool aside, with more from the store where it has not as much. */
  async function more(pool: Pool, micros: Micros): Promise<void> {
    const change = pool.changing.then(async () => {
      if (pool.free >= micros) return
      const turn = { turn: ++pool.turn, at: now().toISOString() }
      const needed = micros - pool.free
      pool.free += await takeAllowance(store, pool.of, { ...turn, needed, wanted: needed + micros * (CALLS - 1) })
    })
    // One call's refusal is not the next one's.
    pool.changing = change.catch(() => {})
    return change
  }

  /** Takes a part of what is free. Whoever waited for more may find it taken by another call. */
  async function draw(pool: Pool, micros: Micros): Promise<void> {
    do await more(pool, micros)
    while (pool.free < micros)
    pool.free -= micros
  }

  function giveBack(pool: Pool): void {
    const micros = pool.free
    pool.free = 0
    const change = pool.changing.then(() =>
      giveBackAllowance(store, pool.of, { micros, turn: ++pool.turn, at: now().toISOString() }),
    )
    // The sweep gives it back once it is not renewed.
    pool.changing = change.catch(onError)
  }

  function tend(): void {
    const at = elapsedMs()
    const today = dayOf(now().toISOString())
    for (const [key, pool] of pools) {
      const isIdle = pool.calls === 0 && at - pool.usedAt >= IDLE_MS
      if (pool.free > 0 && (isIdle || pool.of.day !== today)) giveBack(pool)
      if (pool.calls === 0 && pool.free === 0 && pool.unwritten === 0 && isIdle) pools.delete(key)
    }
    for (const pool of old) {
      if (pool.free > 0) giveBack(pool)
      if (pool.calls === 0 && pool.unwritten === 0) old.delete(pool)
    }
    if (pools.size === 0 && old.size === 0) {
      clearInterval(timer)
      timer = undefined
    } else if (at - renewedAt >= RENEWED_MS) {
      renewedAt = at
      renewAllowances(store, holder, now().toISOString()).catch(onError)
    }
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
      const day = dayOf(now().toISOString())
      if (payer.budgets === null && payer.creditMicros === null) return unbounded(payer.spender, day)
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

    async close() {
      clearInterval(timer)
      const all = [...pools.values(), ...old]
      for (const pool of all) if (pool.free > 0) giveBack(pool)
      await Promise.all(all.map((pool) => pool.changing))
    },
  }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'budget_reached' || error.code === 'insufficient_credit')
