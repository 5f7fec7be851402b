import { GazewayError } from '../errors.ts'
import type { Node } from './node.ts'

/** The gas of a transaction that does nothing: none takes less. */
export const EMPTY_GAS = 21_000
/** Room above the gas that a call is estimated to need: balances that change meanwhile change that, too. */
const ROOM = 1.25

/**
 * The gas to sign a call with: what the node estimates, and some room. What no block could take is never signed, as a
 * number of the account would then wait for it, and all later ones behind that.
 *
 * @throws GazewayError `upstream_bad_reply` for an estimate that cannot be right; viem's error when the call would fail or
 *   the node cannot be asked
 */
export async function gasFor(
  { client }: Node,
  call: { account: `0x${string}`; to: `0x${string}`; data: `0x${string}` },
): Promise<number> {
  // The state of the newest block: in that of what is pending, a transaction that waits has been carried out already.
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
    `The node says that the call takes ${estimate} gas; a transaction takes ${EMPTY_GAS} or more, and a block holds ${most}.`,
  )
}
