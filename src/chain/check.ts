import { GazewayError } from '../errors.ts'
import type { Chain } from './chain.ts'
import { requireDecimals } from './token.ts'

/**
 * Checks that every chain answers as the one that it is said to be, and that settlements can be paid.
 *
 * @returns what was found, in words
 * @throws GazewayError `config_invalid` when settlement is not configured whole or the token has other decimals, `upstream_unreachable` naming the chains
 *   that cannot be used, `insufficient_credit` when nothing is there to pay gas with
 */
export async function checkChains({ status, settlementChain, address, balances, account }: Chain): Promise<string> {
  const settlement = settlementChain()
  const states = await status()
  const failed = states.filter(({ reachable }) => !reachable)
  if (failed.length > 0)
    throw new GazewayError(
      'upstream_unreachable',
      failed.map(({ chain, chain_id, error }) => `${chain} (${chain_id}): ${error}`).join(' '),
    )
  const reached = states.map(({ chain, block_number }) => `${chain} at block ${block_number}`).join(', ')
  if (settlement === null)
    return reached === ''
      ? 'none configured; escrows are paid in the ledger'
      : `${reached}; escrows are paid in the ledger`

  const { node } = await account(settlement.network, settlement.privateKey)
  await requireDecimals(node, settlement.network, settlement.token)
  const own = (await address()) ?? ''
  const { chainId, name } = settlement.network
  const held = (await balances(own)).find(({ chain_id }) => chain_id === chainId)
  if (!held?.native || held.native.raw === '0')
    throw new GazewayError(
      'insufficient_credit',
      `${own} has no ${settlement.network.native.symbol} on ${name} to pay gas with. Send it some.`,
    )
  const token = held.tokens.find(({ symbol }) => symbol === settlement.token.symbol)
  return `${reached}; escrows are paid on ${name} by ${own}, which has ${held.native.amount} ${held.native.symbol} and ${token?.amount ?? 'no'} ${settlement.token.symbol}`
}
