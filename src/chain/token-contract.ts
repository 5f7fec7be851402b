import { GazewayError } from '../errors.ts'
import type { Network, Token } from './networks.ts'
import type { Node } from './node.ts'

/** The selector of `decimals()`, which a token need not have (ERC-20). */
const DECIMALS = '0x313ce567'

/**
 * Checks that a token is one and counts as it is configured to: with other decimals every payment would be a wrong amount,
 * and at an address without a contract every payment would succeed and move nothing.
 *
 * @param setting where the token is configured
 * @throws GazewayError `config_invalid` when it is none or counts otherwise, `upstream_bad_reply` when the node is of another
 *   chain; viem's error when the node cannot be asked
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
  throw invalid(setting, `${symbol} counts with ${BigInt(data)} decimals, not ${decimals}`)
}

/** Whether there is anything at an address that a call could do. @throws viem's error when the node cannot be asked */
export async function hasContract({ client }: Pick<Node, 'client'>, address: `0x${string}`): Promise<boolean> {
  return Boolean(await client.getCode({ address }))
}

function invalid(setting: string, fault: string): GazewayError {
  return new GazewayError('config_invalid', `${fault}. Correct ${setting}.`, { param: setting })
}

/** The setting that names the tokens of a chain. */
export const tokensSetting = ({ chainId }: Pick<Network, 'chainId'>): string => `chain.networks.${chainId}.tokens`
