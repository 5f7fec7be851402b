import { MICROS_PER_USD, type Micros } from '../text/money.ts'

/** Decimals of a US dollar that are kept: providers bill fractions of a micro-dollar. */
const DECIMALS = 15
const PER_MICRO = 10n ** BigInt(DECIMALS) / BigInt(MICROS_PER_USD)
const AMOUNT = /^(-?)(\d{1,15})(?:\.(\d{1,60}))?(?:e([+-]?\d{1,2}))?$/i

/** An amount that a provider billed, in 10^-15 US dollars: sums of many small amounts stay exact. */
export type Billed = bigint

/**
 * Reads an amount in US dollars, or in a smaller unit of them.
 *
 * @param shift decimals that the unit is smaller by: 2 for cents
 * @returns null for anything that is not a plausible decimal
 * @example amountIn('123.45', 2) // 1_234_500_000_000_000n, which are 1.2345 US dollars
 */
export function amountIn(decimal: unknown, shift = 0): Billed | null {
  if (typeof decimal !== 'string' && typeof decimal !== 'number') return null
  const [, sign, whole = '', fraction = '', exponent = '0'] = AMOUNT.exec(`${decimal}`.trim()) ?? []
  if (sign === undefined) return null
  const zeros = DECIMALS - shift + Number(exponent) - fraction.length
  const digits = BigInt(whole + fraction)
  const amount = zeros >= 0 ? digits * 10n ** BigInt(zeros) : digits / 10n ** BigInt(-zeros)
  return sign === '-' ? -amount : amount
}

/** Converts micro-dollars. */
export const billedOf = (micros: Micros): Billed => BigInt(micros) * PER_MICRO

/** Rounds to the nearest micro-dollar. */
export function microsOf(amount: Billed): Micros {
  const half = amount < 0n ? -PER_MICRO / 2n : PER_MICRO / 2n
  return Number((amount + half) / PER_MICRO)
}
