import { GazewayError } from '../errors.ts'
import type { Network, Token } from './networks.ts'
import type { Node } from './node.ts'

/** The selector of `decimals()`, which a token need not have (ERC-20). */
const DECIMALS = '0x313ce567'

/**
 * Checks that a token counts as it is configured to: with other decimals every payment would be a wrong amount.
 *
 * @throws GazewayError `config_invalid` when it counts otherwise, `upstream_bad_reply` when the node is of another chain;
 *   viem's error when the node cannot be asked
 */
export async function requireDecimals(node: Node, { chainId }: Network, token: Token): Promise<void> {
  const [{ data }] = await Promise.all([node.client.call({ to: token.address, data: DECIMALS }), node.verify()])
  if (data === undefined || data.length !== 66 || BigInt(data) === BigInt(token.decimals)) return
  throw new GazewayError(
    'config_invalid',
    `${token.symbol} counts with ${BigInt(data)} decimals, not ${token.decimals}. Correct chain.networks.${chainId}.tokens.`,
    { param: `chain.networks.${chainId}.tokens` },
  )
}
