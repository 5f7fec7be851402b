import { GazewayError } from '../errors.ts'
import type { Chain } from './chain.ts'
import { type ChainStatus, keyNeeded, type Stranded } from './status.ts'
import { requireDecimals, tokensSetting } from './token-contract.ts'

/**
 * Checks that every node is on its chain and that settlements can be paid.
 *
 * @returns a description of the result
 * @throws GazewayError
 * - `config_invalid` for incomplete settlement settings, a missing token or wrong decimals, or payments that wait for a
 *   chain or an account key that is no longer configured
 * - `upstream_unreachable` with the chains that do not answer
 * - `insufficient_credit` without gas
 */
export async function checkChains({
  status,
  settlementChain,
  address,
  balances,
  account,
  stranded,
  unkeyed,
}: Chain): Promise<string> {
  const settlement = settlementChain()
  const states = await status()
  const failed = states.filter(({ reachable }) => !reachable)
  if (failed.length > 0) throw new GazewayError('upstream_unreachable', failed.map(faultOf).join(' '))
  const reached = states.map(({ chain, block_number }) => `${chain} at block ${block_number}`).join(', ')
  const [waiting] = await stranded()
  if (waiting) throw unpaid(waiting)
  const [signed] = await unkeyed()
  if (signed) throw new GazewayError('config_invalid', keyNeeded(signed), { param: 'wallet.private_key' })
  if (settlement === null)
    return reached === ''
      ? 'none configured; escrows are paid in the ledger'
      : `${reached}; escrows are paid in the ledger`

  const { node } = await account(settlement.network, settlement.privateKey)
  const { chainId, name } = settlement.network
  const unusable = (fault: string, cause?: unknown) =>
    new GazewayError('upstream_unreachable', faultOf({ chain: name, chain_id: chainId, error: fault }), { cause })
  await requireDecimals(node, settlement.token, tokensSetting(settlement.network)).catch((error: unknown) => {
    throw error instanceof GazewayError ? error : unusable(node.faultOf(error), error)
  })
  const own = (await address()) ?? ''
  const held = (await balances(own)).find(({ chain_id }) => chain_id === chainId)
  if (held?.native === null && held.error !== null) throw unusable(held.error)
  if (!held?.native || held.native.raw === '0')
    throw new GazewayError(
      'insufficient_credit',
      `${own} has no ${settlement.network.native.symbol} on ${name} to pay gas with. Fund it.`,
    )
  const token = held.tokens.find(({ symbol }) => symbol === settlement.token.symbol)
  return `${reached}; escrows are paid on ${name} by ${own}, which has ${held.native.amount} ${held.native.symbol} and ${token?.amount ?? 'no'} ${settlement.token.symbol}`
}

/** Describes the fault of a chain's node and the setting of the node. */
function faultOf({ chain, chain_id, error }: Pick<ChainStatus, 'chain' | 'chain_id' | 'error'>): string {
  const setting = `chain.rpc_urls.${chain_id}`
  return `${chain} (${chain_id}): ${error}${error?.includes(setting) ? '' : ` Check ${setting}.`}`
}

function unpaid({ chainId, payments, usd }: Stranded): GazewayError {
  return new GazewayError(
    'config_invalid',
    `${payments} payments of escrows and withdrawals, ${usd} USD in all, wait for the chain ${chainId}, which settlement no longer uses. ` +
      `Set chain.settlement.mode to evm and chain.settlement.chain_id to ${chainId} until they are confirmed.`,
    { param: 'chain.settlement.chain_id' },
  )
}
