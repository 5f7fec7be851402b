import type { CallSpend } from '../../calls/call-spend.ts'
import type { GazewayError } from '../../errors.ts'
import type { Micros } from '../../text/money.ts'
import { draw, drawFree, giveBack, isRefusal, type Pool, type PoolDeps } from './allowance-pool.ts'
import type { Spender } from './spending.ts'

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
  /** Ends an amount that was recorded instead of charged. @param spent the part of it that was recorded */
  recorded(spent: Micros): void
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
  /**
   * Reserves more, or says why not.
   *
   * @throws GazewayError `budget_reached`, `session_budget_reached`, `insufficient_credit` or `debt_open`
   */
  grow(micros: Micros, payer?: Payer | null): Promise<void>
  /** Error that the last extension was refused with; null when none was. */
  refusal(): GazewayError | null
  /** Takes the amount spent, at most what is left. */
  take(micros: Micros): Taken
  /**
   * Has the store decide again what later calls may reserve, since this one cost more than was reserved for it.
   *
   * @param beyond the excess, which counts at once in this process
   * @returns call it once the store has the excess
   */
  renew(beyond: Micros): () => void
  /** Frees the rest. Call it once the call is over, whatever its outcome. */
  end(): void
}

const doNothing = () => {}

/** The same for all reservations without limits: most calls have one, and it costs them as little as possible. */
const UNLIMITED: Omit<Reservation, 'take'> = {
  left: () => Infinity,
  extend: async () => true,
  grow: async () => {},
  refusal: () => null,
  renew: () => doNothing,
  end: doNothing,
}

/** A reservation without limits: nothing is reserved. */
export function unbounded(spender: Spender, day: string): Reservation {
  const { left, extend, grow, refusal, renew, end } = UNLIMITED
  const take = (micros: Micros): Taken => ({
    spender,
    day,
    micros,
    allowanceId: null,
    written: doNothing,
    recorded: doNothing,
  })
  return { left, extend, grow, refusal, take, renew, end }
}

/** A reservation that takes from a pool. @param reserved amount drawn for it */
export function reservationIn(deps: PoolDeps & { elapsedMs: () => number }, pool: Pool, reserved: Micros): Reservation {
  let left = reserved
  let refusal: GazewayError | null = null
  let isOver = false

  async function grow(micros: Micros, payer: Payer | null = null): Promise<void> {
    if (payer !== null) applyChanges(deps, pool, payer)
    const wish = { least: micros, most: micros, own: left }
    if (drawFree(deps, pool, wish) === null) await draw(deps, pool, wish)
    if (!isOver) {
      left += micros
      return
    }
    // The client of the call left meanwhile, and the pool may already be retired.
    pool.free += micros
    pool.out -= micros
    giveBack(deps, pool)
  }

  return {
    left: () => left,
    grow,
    async extend(micros, payer = null) {
      try {
        await grow(micros, payer)
        return !isOver
      } catch (error) {
        if (!isRefusal(error)) throw error
        refusal = error
        return false
      }
    },
    refusal: () => refusal,
    take(micros) {
      const taken = Math.min(micros, left)
      left -= taken
      return takenFrom(deps, pool, taken)
    },
    renew(beyond) {
      const { id, session = null } = pool.of.spender
      function add(micros: Micros): void {
        for (const owner of session === null ? [id] : [id, session]) {
          const sum = (deps.beyond.get(owner) ?? 0) + micros
          if (sum === 0) deps.beyond.delete(owner)
          else deps.beyond.set(owner, sum)
        }
      }
      add(beyond)
      deps.retire(pool)
      giveBack(deps, pool)
      return () => add(-beyond)
    },
    end() {
      if (isOver) return
      isOver = true
      pool.calls -= 1
      pool.free += left
      pool.out -= left
      pool.usedAt = deps.elapsedMs()
      left = 0
    },
  }
}

/** Notes an amount as spent until it is written or undone. */
function takenFrom({ retire }: PoolDeps, pool: Pool, micros: Micros): Taken {
  pool.unwritten += micros
  pool.taken += micros
  let isOut = true
  function noted(): void {
    if (isOut) pool.out -= micros
    isOut = false
  }
  return {
    spender: pool.of.spender,
    day: pool.of.day,
    micros,
    allowanceId: pool.of.id,
    noted,
    written() {
      pool.unwritten -= micros
      noted()
    },
    recorded(spent) {
      pool.unwritten -= micros
      // More may have been recorded than was taken: what the operator bears.
      pool.free += Math.max(0, micros - spent)
      noted()
      // The failed charge may have been committed.
      pool.isDoubtful = true
      retire(pool)
    },
  }
}

/** Gives back what was granted under earlier limits: the store decides again how much a running call may reserve. */
function applyChanges(deps: PoolDeps, pool: Pool, { budgets, creditMicros }: Payer): void {
  if (pool.budgets === budgets && pool.of.creditMicros === creditMicros) return
  const isCharged = pool.of.creditMicros !== null && creditMicros !== null
  if (isCharged) pool.of = { ...pool.of, creditMicros }
  deps.retire(pool)
  giveBack(deps, pool)
}
