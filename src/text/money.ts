import * as z from 'zod'

/** Money inside Gazeway: integer micro-dollars (1 USD = 1,000,000). */
export type Micros = number

/** Micro-dollars in one US dollar. */
export const MICROS_PER_USD = 1_000_000

/** Largest balance of an account, positive or negative: 2^53 − 1, the last integer that JSON numbers hold exactly. */
export const MAX_MICROS: Micros = Number.MAX_SAFE_INTEGER

/** Converts micro-dollars to US dollars, with at most 6 decimals. */
export const toUsd = (micros: Micros): number => micros / MICROS_PER_USD

/**
 * Converts US dollars to micro-dollars, exactly.
 *
 * @returns null when `usd` has more than 6 decimals or is too large to be exact
 * @example toMicros(0.25) // 250_000
 */
export function toMicros(usd: number): Micros | null {
  const micros = Math.round(usd * MICROS_PER_USD)
  return Number.isSafeInteger(micros) && micros / MICROS_PER_USD === usd ? micros : null
}

/** Largest single amount, in US dollars. */
const MAX_USD = 1_000_000

const amount = z
  .number()
  .max(MAX_USD)
  .refine((usd) => toMicros(usd) !== null, 'too many decimals')

/** An amount in US dollars: from 0 to 1,000,000, with at most 6 decimals. */
export const Amount = amount.min(0).meta({ accepted: `an amount in USD from 0 to ${MAX_USD} with at most 6 decimals` })

/** An {@link Amount} above 0. */
export const AmountAboveZero = amount
  .positive()
  .meta({ accepted: `an amount in USD above 0 and up to ${MAX_USD} with at most 6 decimals` })
