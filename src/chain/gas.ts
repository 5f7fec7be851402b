import { GazewayError } from '../errors.ts'
import type { Node } from './chain-node.ts'

/** Gas of an empty transaction, the least of any. */
export const EMPTY_GAS = 21_000
/** Margin over the estimated gas, because balances may change meanwhile. */
const ROOM = 1.25

/**
 * Estimates the gas of a call, with a margin. Rejects more gas than a block holds: such a transaction would never be
 * mined, and its nonce would block all later ones.
 *
 * @throws GazewayError `upstream_bad_reply` for an impossible estimate; viem's error when the call would fail or the
 *   node does not answer
 */
export async function gasFor(
  { client }: Node,
  call: { account: `0x${string}`; to: `0x${string}`; data: `0x${string}` },
): Promise<number> {
  // At the latest block: the pending state already includes the effects of a waiting transaction.
  const [estimate, { gasLimit }] = await Promise.all([
    client.estimateGas({ ...call, blockTag: 'latest' }).then(Number),
    client.getBlock({ blockTag: 'latest' }),
  ])
  const most = Number(gasLimit)
  if (!(estimate >= EMPTY_GAS && estimate <= most)) throw impossible(estimate, most)
  return Math.min(Math.ceil(estimate * ROOM), most)
}

function impossible(estimate: number, most: number): GazewayError {
  return new GazewayError(
    'upstream_bad_reply',
    `The node estimates ${estimate} gas, not between ${EMPTY_GAS} and the ${most} of a block. Check the node.`,
  )
}
