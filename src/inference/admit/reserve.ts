import { setTimeout as delay } from 'node:timers/promises'
import { GazewayError } from '../../errors.ts'
import type { Identity } from '../../identity/identity.ts'
import type { Micros } from '../../text/money.ts'
import { HeldByOthers } from '../../wallet/budget/held-by-others.ts'
import type { Payer, Reservation } from '../../wallet/budget/reservation.ts'
import type { Reservations } from '../../wallet/budget/reservations.ts'
import { marginOf, type PricingConfig } from '../../wallet/receipts/pricing.ts'
import type { CallBound } from './worst-case.ts'

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

/**
 * Reserves the upper bound of a call's cost. Counts the prompt when the quick bound exceeds the money left. Waits while
 * calls in flight hold what the call needs, for at most `wallet.wait_ms`.
 *
 * @param isGone tells whether nobody waits for the call any more
 */
export function reserveFor(
  deps: ReserveDeps,
  key: Identity,
  bound: CallBound,
  isGone = () => false,
): Reservation | Promise<Reservation> {
  const margin = marginFor(key, deps.pricing)
  const quick = deps.reservations.reserve(payerOf(key, deps.defaultCreditMicros), bound.micros + margin)
  if (!(quick instanceof Promise)) return quick
  return quick.catch(async (error: unknown) => {
    if (!isShort(error)) throw error
    const micros = Math.min(bound.micros, await bound.counted()) + margin
    return reserveInTime(deps, key, { micros, isGone })
  })
}

/** Reserves an amount, as soon as calls in flight have freed it. */
async function reserveInTime(
  { reservations, defaultCreditMicros, identity, waitMs }: ReserveDeps,
  key: Identity,
  { micros, isGone }: { micros: Micros; isGone: () => boolean },
): Promise<Reservation> {
  const endsAt = performance.now() + waitMs
  let present = key
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const payer = payerOf(present, defaultCreditMicros)
    try {
      return await reservations.reserve(payer, micros)
    } catch (error) {
      if (!(error instanceof HeldByOthers) || performance.now() + pauseMs > endsAt || isGone()) throw error
    }
    await reservations.giveBackBeside(payer)
    await delay(pauseMs)
    // Its limits may have changed, or the key may have ended.
    present = { ...((await identity(key.id)) ?? key), billing: key.billing }
  }
}

const isShort = (error: unknown): boolean =>
  error instanceof GazewayError && (error.code === 'budget_reached' || error.code === 'insufficient_credit')

export const marginFor = ({ billing }: Identity, pricing: PricingConfig): Micros =>
  billing === 'metered' ? marginOf(pricing) : 0

/** Cache of payers. Keys are read again every two seconds, and the payer of a key must stay the same object. */
const payers = new WeakMap<Identity, Payer & { defaultCreditMicros: Micros }>()

/** Payer of a key's calls, and its limits. */
export function payerOf(key: Identity, defaultCreditMicros: Micros): Payer {
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
