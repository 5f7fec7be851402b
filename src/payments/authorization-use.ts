import { type Hex, parseAbiItem, parseEventLogs, type TransactionReceipt } from 'viem'
import { hasTransfer, transferCall } from '../chain/token-transfer.ts'
import { GazewayError } from '../errors.ts'

/** The event of an authorization that was used (EIP-3009), for whatever its payer signed under that nonce. */
export const AUTHORIZATION_USED = parseAbiItem(
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
)

/** A payment as the chain knows it. */
export interface AuthorizedPayment {
  payer: string
  /** Of the authorization. */
  nonce: string
  /** What is paid, in the token's smallest unit. */
  units: bigint
}

/**
 * Whether the use of an authorization that a receipt tells of was the payment. The nonce does not say so: receiver and amount
 * are no part of it (EIP-3009), so that a payer can use it up for nothing, to himself.
 *
 * It was where the log right after `AuthorizationUsed` is the token's `Transfer` of the exact amount, from the payer to the
 * recipient. That is the order in which the reference implementation in EIP-3009, `_transferWithAuthorization` of USDC
 * (Circle's FiatTokenV2) and of OpenZeppelin's ERC3009 emit them. No other log counts, nor the one before: one transaction may
 * use many authorizations, and no `Transfer` may prove two of them.
 *
 * @throws GazewayError `upstream_bad_reply` when the receipt tells of no such use: the chain has changed since it was found
 */
export function isPaidBy(
  { logs }: Pick<TransactionReceipt, 'logs'>,
  { token, recipient, payer, nonce, units }: AuthorizedPayment & { token: string; recipient: string },
): boolean {
  const args = { authorizer: payer as Hex, nonce: nonce as Hex }
  const uses = parseEventLogs({ abi: [AUTHORIZATION_USED], args, logs })
  const use = uses.find(({ address }) => address.toLowerCase() === token.toLowerCase())
  if (!use)
    throw new GazewayError('upstream_bad_reply', 'The node tells of an authorization that its transaction did not use.')
  const next = logs.filter(({ logIndex }) => logIndex === use.logIndex + 1)
  return hasTransfer({ logs: next }, { token: token.toLowerCase(), from: payer, call: transferCall(recipient, units) })
}
