import { GazewayError } from '../errors.ts'
import type { Node } from './chain-node.ts'
import type { Network, Token } from './networks.ts'

/** Selector of `decimals()`, which is optional in ERC-20. */
const DECIMALS = '0x313ce567'

/**
 * Checks that a token exists and has the configured decimals. With other decimals every payment would have a wrong
 * amount. At an address without a contract every payment would succeed and move nothing.
 *
 * @param setting name of the token's setting
 * @throws GazewayError `config_invalid` for a missing token or other decimals, `upstream_bad_reply` when the node is on
 *   another chain; viem's error when the node does not answer
 */
export async function requireDecimals(
  { client, verify }: Pick<Node, 'client' | 'verify'>,
  { address, symbol, decimals }: Token,
  setting: string,
): Promise<void> {
  const [{ data }] = await Promise.all([client.call({ to: address, data: DECIMALS }), verify()])
  if (data === undefined && !(await hasContract({ client }, address)))
    throw invalid(setting, `There is no contract at ${address}`)
  if (data === undefined || data.length !== 66 || BigInt(data) === BigInt(decimals)) return
  throw invalid(setting, `${symbol} has ${BigInt(data)} decimals, not ${decimals}`)
}

/** Tells whether an address has code. @throws viem's error when the node does not answer */
export async function hasContract({ client }: Pick<Node, 'client'>, address: `0x${string}`): Promise<boolean> {
  return Boolean(await client.getCode({ address }))
}

function invalid(setting: string, fault: string): GazewayError {
  return new GazewayError('config_invalid', `${fault}. Correct ${setting}.`, { param: setting })
}

/** Name of the setting for a chain's tokens. */
export const tokensSetting = ({ chainId }: Pick<Network, 'chainId'>): string => `chain.networks.${chainId}.tokens`
