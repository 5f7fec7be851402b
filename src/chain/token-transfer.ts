import type { TransactionReceipt } from 'viem'
import type { Micros } from '../text/money.ts'

/** Decimals of a micro-dollar. */
const USD_DECIMALS = 6
/** `keccak256('Transfer(address,address,uint256)')`, the event of ERC-20. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const EMPTY = '0x0000000000000000000000000000000000000000000000000000000000000000'

/**
 * Converts micro-dollars to a token's smallest unit, exactly. One token counts as one US dollar.
 *
 * @throws RangeError for a token with fewer than 6 decimals, which cannot represent a micro-dollar
 * @example tokenUnits(1_500_000, 18) // 1500000000000000000n
 */
export function tokenUnits(micros: Micros, decimals: number): bigint {
  if (decimals < USD_DECIMALS)
    throw new RangeError(`A token of ${decimals} decimals cannot pay whole micro-dollars; 6 are needed.`)
  return BigInt(micros) * 10n ** BigInt(decimals - USD_DECIMALS)
}

/** Builds the call data of `transfer(to, units)` (ERC-20). */
export function transferCall(to: string, units: bigint): `0x${string}` {
  return `0xa9059cbb${padded(to)}${units.toString(16).padStart(64, '0')}`
}

/**
 * Tells whether the token moved the exact amount: some tokens refuse without failing, or keep a part.
 *
 * @param order.call the signed call data, a {@link transferCall}, whatever is configured now
 */
export function hasTransfer(
  { logs }: Pick<TransactionReceipt, 'logs'>,
  { token, from, call }: { token: string; from: string; call: string },
): boolean {
  const [to, units] = [`0x${call.slice(10, 74)}`, BigInt(`0x${call.slice(74)}`)]
  return logs.some(({ address, topics: [event, sender, receiver], data }) => {
    const named = event === TRANSFER && sender === `0x${padded(from)}` && receiver === to
    return named && address.toLowerCase() === token && BigInt(data === '0x' ? EMPTY : data) === units
  })
}

/** An address padded to one word of call data. */
const padded = (address: string): string => address.slice(2).toLowerCase().padStart(64, '0')
