import { GazewayError } from '../errors.ts'
import type { Node } from './chain-node.ts'

const WEI_PER_GWEI = 1e9
/** Factor by which a replacement raises the fee: nodes require a tenth, so an eighth is safe. */
const BUMP = 1.125

/** Fees per unit of gas in wei. Without a priority fee `maxFee` is the whole price, as on older chains. */
export interface Fees {
  maxFee: number
  priorityFee: number | null
}

/** Converts a limit from gwei to wei. */
export const gweiToWei = (gwei: number): number => Math.round(gwei * WEI_PER_GWEI)

/**
 * Suggests fees: the tip that the node advises, plus twice the base fee, but never above `limit`. Six full blocks in a
 * row double the base fee, because EIP-1559 raises it by an eighth each time.
 *
 * @throws GazewayError `upstream_error` when the chain requires more than `limit`
 */
export async function suggestFees({ client }: Node, limit: number): Promise<Fees> {
  const { baseFeePerGas } = await client.getBlock({ blockTag: 'latest' })
  if (baseFeePerGas === null) {
    const price = Number(await client.getGasPrice())
    if (price > limit) throw tooDear(price, limit)
    return { maxFee: price, priorityFee: null }
  }
  const base = Number(baseFeePerGas)
  if (base > limit) throw tooDear(base, limit)
  const tip = Number(await client.estimateMaxPriorityFeePerGas())
  const maxFee = Math.min(2 * base + tip, limit)
  return { maxFee, priorityFee: Math.min(tip, maxFee) }
}

/** Computes the fees that replace a transaction with `old` fees; null above `limit`. */
export function bumpFees(old: Fees, now: Fees, limit: number): Fees | null {
  const raised = (fee: number) => Math.ceil(fee * BUMP) + 1
  const maxFee = Math.max(raised(old.maxFee), now.maxFee)
  if (maxFee > limit) return null
  if (old.priorityFee === null) return { maxFee, priorityFee: null }
  return { maxFee, priorityFee: Math.min(maxFee, Math.max(raised(old.priorityFee), now.priorityFee ?? 0)) }
}

function tooDear(wei: number, limit: number): GazewayError {
  return new GazewayError(
    'upstream_error',
    `A unit of gas costs ${wei / WEI_PER_GWEI} gwei, and chain.settlement.max_fee_gwei is ${limit / WEI_PER_GWEI}. ` +
      'Raise that, or wait.',
  )
}
