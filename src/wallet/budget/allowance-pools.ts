import type { Store } from '../../store/store.ts'
import { newId } from '../../text/ids.ts'
import { giveBack, isEmpty, newPool, noteOut, type Pool, type PoolDeps, sizeFor } from './allowance-pool.ts'
import { LEASE_MS, renewAllowances } from './allowances.ts'
import type { Payer } from './reservation.ts'
import type { Spender } from './spending.ts'

/** Time without a call after which an allowance is given back, and interval of the checks, in milliseconds. */
const IDLE_MS = 250
/** Interval between renewals in milliseconds; several fit into one lease. */
const RENEWED_MS = LEASE_MS / 5

/** Dependencies of {@link createPools}. */
export interface PoolsDeps {
  store: Store
  now: () => Date
  onError: (error: unknown) => void
  /** Monotonic clock in milliseconds. */
  elapsedMs: () => number
  /** The UTC day. */
  today: () => string
  /** Name of this process in the store. */
  holder: string
  mark: PoolDeps['mark']
}

/** The allowances that this process holds. */
export interface Pools extends PoolDeps {
  /** Finds or creates the pool of a payer's calls on a day. Changed limits get a new one. */
  of(payer: Payer, day: string): Pool
  /** Gives back the free amount of pools whose calls have ended. */
  giveBackIdle(keyId: string): Promise<void>
  /** Gives back the free amount of all other pools that share a budget with a payer. */
  giveBackBeside(payer: Payer): Promise<void>
  /** Gives back all free amounts and stops the timers. */
  close(): Promise<void>
}

/** Creates the pools of this process. It renews their leases, and gives back what they do not need. */
export function createPools({ store, now, onError, elapsedMs, today, holder, mark }: PoolsDeps): Pools {
  const open = new Map<string, Pool>()
  const retired = new Set<Pool>()
  const deps: PoolDeps = { store, now, onError, beyond: new Map(), retire, mark }
  let timer: NodeJS.Timeout | undefined
  let renewedAt = elapsedMs()
  const all = () => [...open.values(), ...retired]

  function retire(pool: Pool): void {
    const key = keyOf(pool.of)
    if (open.get(key) === pool) open.delete(key)
    retired.add(pool)
  }

  function add(key: string, pool: Pool): Pool {
    open.set(key, pool)
    if (timer === undefined) {
      timer = setInterval(maintain, IDLE_MS).unref()
      renewedAt = elapsedMs()
    }
    return pool
  }

  /**
   * Gives all back after a gap longer than the lease, such as a suspension: an admin may have released it, and the money
   * of charged calls was given back.
   */
  function forgetLost(): void {
    const at = elapsedMs()
    if (at - renewedAt < LEASE_MS) return
    renewedAt = at
    for (const pool of open.values()) {
      retire(pool)
      giveBack(deps, pool)
    }
  }

  function maintain(): void {
    forgetLost()
    const at = elapsedMs()
    const day = today()
    for (const pool of all()) if (pool.out < pool.mark / 2) noteOut(deps, pool)
    for (const [key, pool] of open) if (tend(deps, pool, { at, day })) open.delete(key)
    for (const pool of retired) if (giveBackRest(deps, pool)) retired.delete(pool)
    if (open.size === 0 && retired.size === 0) {
      clearInterval(timer)
      timer = undefined
    } else if (at - renewedAt >= RENEWED_MS)
      renewAllowances(store, holder, now().toISOString()).then(() => {
        renewedAt = at
      }, onError)
  }

  return {
    ...deps,
    of(payer, day) {
      forgetLost()
      const { spender, creditMicros, budgets } = payer
      const key = keyOf({ spender, day, creditMicros })
      const known = open.get(key)
      if (known && isUnder(known, payer)) return known
      if (known) retire(known)
      return add(key, newPool({ id: newId('alw'), holder, spender, day, creditMicros }, budgets, elapsedMs()))
    },
    giveBackIdle: (keyId) => giveBackAll(deps, all().filter(isIdleOf(keyId))),
    giveBackBeside({ spender, creditMicros }) {
      const own = open.get(keyOf({ spender, day: today(), creditMicros }))
      return giveBackAll(
        deps,
        all().filter((pool) => pool !== own && sharesBudget(pool.of.spender, spender)),
      )
    },
    close() {
      clearInterval(timer)
      for (const pool of all()) if (pool.out < pool.mark) noteOut(deps, pool)
      return giveBackAll(deps, all())
    },
  }
}

/** Names a pool. Charged and recorded calls of a key, and of a session with a budget, have a pool each, as they take from different sources. */
const keyOf = ({
  spender,
  day,
  creditMicros,
}: {
  spender: Spender
  day: string
  creditMicros: number | null
}): string => `${spender.session ?? spender.id} ${day} ${creditMicros === null ? 'recorded' : 'charged'}`

const sharesBudget = (one: Spender, other: Spender): boolean =>
  one.id === other.id || (one.groupId !== null && one.groupId === other.groupId)

const isIdleOf =
  (keyId: string) =>
  ({ of, calls }: Pool): boolean =>
    of.spender.id === keyId && calls === 0

const isUnder = (pool: Pool, { spender, creditMicros, budgets }: Payer): boolean =>
  pool.budgets === budgets && pool.of.creditMicros === creditMicros && pool.of.spender.groupId === spender.groupId

/** Updates the peaks of a pool after an interval, and gives back what it does not need. @returns whether it has ended */
function tend(deps: PoolDeps, pool: Pool, { at, day }: { at: number; day: string }): boolean {
  pool.pace = Math.max(pool.taken, Math.floor(pool.pace / 2))
  pool.peak = Math.max(pool.calls, Math.floor(pool.peak / 2))
  pool.taken = 0
  const isIdle = pool.calls === 0 && at - pool.usedAt >= IDLE_MS
  const size = sizeFor(pool)
  const most = Math.min(2 * size, Math.max(pool.idle, pool.call))
  if (isIdle || pool.of.day !== day) giveBack(deps, pool)
  else if (pool.free > most) giveBack(deps, pool, size)
  return isIdle && isEmpty(pool)
}

/** Gives back what no call of a pool uses. @returns whether nothing of it is left */
function giveBackRest(deps: PoolDeps, pool: Pool): boolean {
  if (isEmpty(pool) && pool.isDoubtful) {
    // Gives back all that the store has of it: no call of this process uses it any more.
    pool.free = Number.MAX_SAFE_INTEGER
    pool.isDoubtful = false
  }
  giveBack(deps, pool)
  return isEmpty(pool)
}

async function giveBackAll(deps: PoolDeps, pools: readonly Pool[]): Promise<void> {
  for (const pool of pools) giveBackRest(deps, pool)
  await Promise.all(pools.map(({ changing }) => changing))
}
