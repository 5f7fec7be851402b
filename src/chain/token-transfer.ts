import type { TransactionReceipt } from 'viem'
import type { Micros } from '../text/money.ts'

/** Decimals of a US dollar in the ledger. */
const USD_DECIMALS = 6
/** `keccak256('Transfer(address,address,uint256)')`, the event of ERC-20. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const EMPTY = '0x0000000000000000000000000000000000000000000000000000000000000000'

/**
 * Micro-dollars in a token's smallest unit, exact: a token counts as one US dollar.
 *
 * @throws RangeError for a token with fewer than 6 decimals, which cannot show a micro-dollar
 */
export function tokenUnits(micros: Micros, decimals: number): bigint {
  if (decimals < USD_DECIMALS)
    throw new RangeError(`A token of ${decimals} decimals cannot pay whole micro-dollars; 6 are needed.`)
  return BigInt(micros) * 10n ** BigInt(decimals - USD_DECIMALS)
}

/** The data of a call `transfer(to, units)` (ERC-20). */
export function transferCall(to: string, units: bigint): `0x${string}` {
  return `0xa9059cbb${padded(to)}${units.toString(16).padStart(64, '0')}`
}

/**
 * Whether the token moved what it was told to: some tokens refuse without failing, or keep a part.
 *
 * @param order.call the data of the transaction, a {@link transferCall}: what was signed, whatever is configured now
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

/** An address as one word of a call. */
const padded = (address: string): string => address.slice(2).toLowerCase().padStart(64, '0')
