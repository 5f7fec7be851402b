import { z } from 'zod'

/** Money inside Gazeway: integer micro-dollars (1 USD = 1,000,000). */
export type Micros = number

/** Micro-dollars in one US dollar. */
export const MICROS_PER_USD = 1_000_000

/** The most that an account can hold, or owe: 2^53 − 1, which JSON numbers still tell from its neighbours. */
export const MOST_MICROS: Micros = Number.MAX_SAFE_INTEGER

/** Micro-dollars as a JSON number of US dollars, with at most 6 decimals. */
export const toUsd = (micros: Micros): number => micros / MICROS_PER_USD

/**
 * US dollars as micro-dollars, exactly.
 *
 * @returns null when `usd` has more than 6 decimals or is too large to be exact
 */
export function toMicros(usd: number): Micros | null {
  const micros = Math.round(usd * MICROS_PER_USD)
  return Number.isSafeInteger(micros) && micros / MICROS_PER_USD === usd ? micros : null
}

/** The most that one amount can be, in US dollars. */
const MOST_USD = 1_000_000

const amount = z
  .number()
  .max(MOST_USD)
  .refine((usd) => toMicros(usd) !== null, 'too many decimals')

/** An amount in US dollars: from 0 to 1,000,000, with at most 6 decimals. */
export const Amount = amount.min(0).meta({ accepted: `an amount in USD from 0 to ${MOST_USD} with at most 6 decimals` })

/** An {@link Amount} above 0. */
export const AmountAboveZero = amount
  .positive()
  .meta({ accepted: `an amount in USD above 0 and up to ${MOST_USD} with at most 6 decimals` })
