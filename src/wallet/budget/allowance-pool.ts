import { GazewayError } from '../../errors.ts'
import type { Store } from '../../store/store.ts'
import type { Micros } from '../../text/money.ts'
import { type AllowanceOf, giveBackAllowance, takeAllowance } from './allowances.ts'
import { shareFor, type Wish } from './call-share.ts'

/** Fewest calls that an allowance is sized for; more if more run at once. */
const CALLS = 8
/** Number of maintenance intervals that the allowance of a busy key should last. */
const LASTS = 4

/** An allowance of this process and its use. */
export interface Pool {
  of: AllowanceOf
  free: Micros
  /** Calls that hold a part of it. */
  calls: number
  /** Recent peak of concurrent calls; halves with each interval that has fewer. */
  peak: number
  /** Taken and not written yet. */
  unwritten: Micros
  /** Drawn by calls, and neither given back nor in the journal or the store yet. */
  out: Micros
  /** Most that may be out, by the journal. */
  mark: Micros
  /** Most that the process may hold beyond the need of one call. */
  idle: Micros
  /** Amount left of money and budgets after the last change in the store. */
  left: Micros
  /** Need of the last call. */
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

/** Dependencies of changes to a pool. */
export interface PoolDeps {
  store: Store
  now: () => Date
  onError: (error: unknown) => void
  /** Usage beyond reservations by key and session that is not written yet, so that the store does not count it. */
  beyond: Map<string, Micros>
  /** Closes a pool to new calls, because the store may have more or less of it than is known here. */
  retire(pool: Pool): void
  /** Notes in the journal that calls may spend at most `micros` of an allowance. */
  mark(allowanceId: string, micros: Micros): void
}

/** Creates a pool without money. */
export const newPool = (of: AllowanceOf, budgets: string | null, usedAt: number): Pool => ({
  of,
  free: 0,
  calls: 0,
  peak: 0,
  unwritten: 0,
  out: 0,
  mark: 0,
  idle: Infinity,
  left: 0,
  call: 0,
  taken: 0,
  pace: 0,
  turn: 0,
  returning: null,
  isDoubtful: false,
  usedAt,
  budgets,
  changing: Promise.resolve(),
})

/** Size of an allowance for the current use of a pool. */
export const sizeFor = ({ call, peak, taken, pace, idle }: Pool): Micros =>
  Math.min(Math.max(idle, call), Math.max(call * Math.max(CALLS, peak), Math.max(taken, pace) * LASTS))

/** Tells whether neither calls nor the store need the pool any more. */
export const isEmpty = ({ calls, free, unwritten, returning }: Pool): boolean =>
  calls === 0 && free === 0 && unwritten === 0 && returning === null

const REFUSALS: readonly unknown[] = ['budget_reached', 'session_budget_reached', 'insufficient_credit', 'debt_open']

/** Tells whether an error is the store's refusal for lack of money or budget. */
export const isRefusal = (error: unknown): error is GazewayError =>
  error instanceof GazewayError && REFUSALS.includes(error.code)

/** Draws what suits a call from a pool's free amount. @returns the amount; null when there is not enough */
export function drawFree(deps: PoolDeps, pool: Pool, wish: Wish): Micros | null {
  pool.call = wish.least
  const micros = shareFor(wish, pool.free + pool.left)
  if (pool.free < micros) return null
  pool.free -= micros
  pool.out += micros
  // Before the call is sent: what the journal does not name cannot have been spent.
  if (pool.out > pool.mark) noteOut(deps, pool)
  return micros
}

/** Notes in the journal what is out of a pool. */
export function noteOut({ mark }: PoolDeps, pool: Pool): void {
  pool.mark = pool.out
  mark(pool.of.id, pool.mark)
}

/**
 * Draws what suits a call from a pool, with the missing part from the store. Asks again when another call took it
 * meanwhile.
 *
 * @returns the amount
 * @throws GazewayError `insufficient_credit` or `budget_reached`
 */
export async function draw(deps: PoolDeps, pool: Pool, wish: Wish): Promise<Micros> {
  for (;;) {
    await more(deps, pool, wish)
    const drawn = drawFree(deps, pool, wish)
    if (drawn !== null) return drawn
  }
}

/** Asks the store for what a pool lacks for a call. */
async function more(deps: PoolDeps, pool: Pool, wish: Wish): Promise<void> {
  const { store, now, retire, beyond } = deps
  const change = pool.changing.then(async () => {
    await sendBack(deps, pool)
    const { free, unwritten } = pool
    if (free >= shareFor(wish, free + pool.left)) return
    const turn = { turn: ++pool.turn, at: now().toISOString() }
    const own = wish.own ?? 0
    const owed = (owner: string) => beyond.get(owner) ?? 0
    const has = { free, unwritten: unwritten + own, owed, size: sizeFor(pool) }
    const { granted, left, idle } = await takeAllowance(store, pool.of, { ...turn, ...wish, ...has })
    // Not `pool.free += await …`: that reads `free` first, and loses what calls free or draw during the wait.
    pool.free += granted
    pool.left = left
    pool.idle = idle
  })
  // A refusal belongs to one call, which receives it through `change`; later calls ask again.
  pool.changing = change.catch((error: unknown) => {
    if (isRefusal(error)) return
    pool.isDoubtful = true
    retire(pool)
  })
  return change
}

/** Gives back the free amount except `kept`, after earlier changes. */
export function giveBack(deps: PoolDeps, pool: Pool, kept: Micros = 0): void {
  setAside(pool, kept)
  if (pool.returning === null) return
  pool.changing = pool.changing
    .then(async () => {
      await sendBack(deps, pool)
      // What a return that was already under way did not have.
      setAside(pool, kept)
      await sendBack(deps, pool)
    })
    .catch((error: unknown) => {
      deps.retire(pool)
      deps.onError(error)
    })
}

/** Takes what is free beyond `kept` out of a pool, to be returned, unless a return is under way. */
function setAside(pool: Pool, kept: Micros): void {
  if (pool.returning !== null || pool.free <= kept) return
  pool.returning = { micros: pool.free - kept, turn: null }
  pool.free = kept
}

/**
 * Sends the pending return to the store. A failed attempt may have been committed, so it is retried under the same turn
 * before any other change. Call it only within the pool's chain of changes.
 */
async function sendBack({ store, now }: PoolDeps, pool: Pool): Promise<void> {
  const { returning } = pool
  if (returning === null) return
  returning.turn ??= ++pool.turn
  const { micros, turn } = returning
  await giveBackAllowance(store, pool.of, { micros, turn, at: now().toISOString() })
  pool.returning = null
}
