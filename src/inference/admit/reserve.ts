import { setTimeout as delay } from 'node:timers/promises'
import { GazewayError } from '../../errors.ts'
import type { Identity } from '../../identity/identity.ts'
import type { Micros } from '../../text/money.ts'
import { HeldByOthers } from '../../wallet/budget/held-by-others.ts'
import type { Payer, Reservation } from '../../wallet/budget/reservation.ts'
import { sessionOwner } from '../../wallet/budget/session-budget.ts'
import { marginOf, type PricingConfig } from '../../wallet/receipts/pricing.ts'
import type { Reservations } from '../../wallet/wallet.ts'
import type { CallBound, Quote } from './worst-case.ts'

/** First and longest pause between two attempts of a call that waits for a reservation, in milliseconds. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [25, 500]

/** Dependencies of {@link reserveFor}. */
export interface ReserveDeps {
  reservations: Reservations
  pricing: PricingConfig
  /** Default credit limit of a key: how far it may spend beyond its deposits. */
  defaultCreditMicros: Micros
  /** Longest time, in milliseconds, that a call waits for what calls in flight have reserved. */
  waitMs: number
  /**
   * Finds a caller by id, synchronously when cached. Null for one without a key.
   *
   * @throws GazewayError `invalid_api_key` for a revoked key, `key_expired`
   */
  identity(id: string): Identity | null | Promise<Identity | null>
}

/** A key that makes a call, and the session that its client names. */
export interface SessionCaller {
  key: Identity
  sessionId: string | null
}

/** A reservation, and the bound that it was made by. */
export interface Reserved {
  reservation: Reservation
  quote: Quote
}

/**
 * Reserves the upper bound of a call's cost. Counts the prompt when the quick bound exceeds the money left or the context
 * of the model. Waits while calls in flight hold what the call needs, for at most `wallet.wait_ms`.
 *
 * @param isGone tells whether nobody waits for the call any more
 */
export function reserveFor(
  deps: ReserveDeps,
  caller: SessionCaller,
  bound: CallBound,
  isGone = () => false,
): Reserved | Promise<Reserved> {
  const { quick } = bound
  const inTime = async () => {
    try {
      return await reserveInTime(deps, caller, await bound.counted(), isGone)
    } catch (error) {
      throw explained(error, bound)
    }
  }
  if (quick === null) return inTime()
  const reserved = reserveQuote(deps, caller, quick)
  if (!(reserved instanceof Promise)) return reserved
  return reserved.catch((error: unknown) => {
    if (!isShort(error)) throw error
    return inTime()
  })
}

function reserveQuote(
  { reservations, pricing, defaultCreditMicros }: ReserveDeps,
  caller: SessionCaller,
  quote: Quote,
): Reserved | Promise<Reserved> {
  const margin = marginFor(caller.key, pricing)
  const wish = { least: quote.least + margin, most: quote.most + margin }
  const reservation = reservations.reserve(payerOf(caller, defaultCreditMicros), wish)
  return reservation instanceof Promise
    ? reservation.then((made) => ({ reservation: made, quote }))
    : { reservation, quote }
}

const reserveInTime = (
  deps: ReserveDeps,
  caller: SessionCaller,
  quote: Quote,
  isGone: () => boolean,
): Promise<Reserved> => inTime(deps, { ...caller, isGone }, async (present) => reserveQuote(deps, present, quote))

/**
 * Extends a reservation for another attempt. Waits as {@link reserveFor}.
 *
 * @throws GazewayError `budget_reached`, `session_budget_reached`, `insufficient_credit`, `debt_open`,
 *   `invalid_api_key` or `key_expired`
 */
export const extendInTime = (
  deps: ReserveDeps,
  caller: SessionCaller & { isGone: () => boolean },
  { grow }: Pick<Reservation, 'grow'>,
  micros: Micros,
): Promise<void> => inTime(deps, caller, (present) => grow(micros, payerOf(present, deps.defaultCreditMicros)))

/** Reserves as soon as calls in flight have freed enough. */
async function inTime<T>(
  deps: ReserveDeps,
  { key, sessionId, isGone }: SessionCaller & { isGone: () => boolean },
  reserve: (present: SessionCaller) => Promise<T>,
): Promise<T> {
  const endsAt = performance.now() + deps.waitMs
  let present: SessionCaller = { key, sessionId }
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return await reserve(present)
    } catch (error) {
      if (!(error instanceof HeldByOthers) || performance.now() + pauseMs > endsAt || isGone()) throw error
    }
    await deps.reservations.giveBackBeside(payerOf(present, deps.defaultCreditMicros))
    await delay(pauseMs)
    // Its limits may have changed, or the key may have ended.
    present = { key: { ...((await deps.identity(key.id)) ?? key), billing: key.billing }, sessionId }
  }
}

/** Names the field where most is reserved for input of any length. */
function explained(error: unknown, { longInput }: CallBound): unknown {
  if (longInput === null || !isShort(error)) return error
  const { code, message, headers } = error as GazewayError
  const { field, tokens } = longInput
  const why = `${field} lets the provider read up to ${tokens} tokens, which are reserved.`
  return new GazewayError(code, `${message} ${why}`, { param: field, headers, cause: error })
}

const isShort = (error: unknown): boolean => error instanceof GazewayError && SHORT.includes(error.code)

const SHORT: readonly string[] = ['budget_reached', 'session_budget_reached', 'insufficient_credit']

export const marginFor = ({ billing }: Identity, pricing: PricingConfig): Micros =>
  billing === 'metered' ? marginOf(pricing) : 0

/** Cache of payers. Keys are read again every two seconds, and the payer of a key must stay the same object. */
const payers = new WeakMap<Identity, Payer & { defaultCreditMicros: Micros }>()

/** Payer of the calls of a key's session, and its limits. Calls without a session are held to the others alone. */
export function payerOf({ key, sessionId }: SessionCaller, defaultCreditMicros: Micros): Payer {
  const payer = payerOfKey(key, defaultCreditMicros)
  const micros = key.sessionLimits?.micros ?? null
  if (sessionId === null || micros === null) return payer
  const { creditMicros, budgets, spender } = payer
  const session = sessionOwner({ callerId: key.id, sessionId })
  return { spender: { ...spender, session }, creditMicros, budgets: `${budgets} ${micros}` }
}

function payerOfKey(key: Identity, defaultCreditMicros: Micros): Payer {
  const known = payers.get(key)
  if (known?.defaultCreditMicros === defaultCreditMicros) return known
  const { id, group, budgets, billing, creditLimitMicros } = key
  const bounds = [...budgets, ...(group?.budgets ?? [])]
  const payer = {
    spender: { id, groupId: group?.id ?? null },
    creditMicros: billing === 'recorded' ? null : (creditLimitMicros ?? defaultCreditMicros),
    budgets: bounds.length === 0 ? null : JSON.stringify([budgets, group]),
    defaultCreditMicros,
  }
  payers.set(key, payer)
  return payer
}
