import { type Hex, parseAbiItem, parseEventLogs, type TransactionReceipt } from 'viem'
import { hasTransfer, transferCall } from '../chain/token-transfer.ts'
import { GazewayError } from '../errors.ts'

/** Event of a used EIP-3009 authorization. It names the nonce only, not the receiver or the amount. */
export const AUTHORIZATION_USED = parseAbiItem(
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
)

/** A payment as the chain sees it. */
export interface AuthorizedPayment {
  payer: string
  /** Nonce of the authorization. */
  nonce: string
  /** Amount in the token's smallest unit. */
  units: bigint
}

/**
 * Tells whether a receipt's use of an authorization is the payment. The nonce alone does not prove it, because receiver
 * and amount are not part of it (EIP-3009). A payer can use up a nonce with a transfer of nothing, or to himself.
 *
 * The use is the payment when the log right after `AuthorizationUsed` is the token's `Transfer` of the exact amount
 * from the payer to the recipient. The reference implementation in EIP-3009, `_transferWithAuthorization` of USDC
 * (Circle's FiatTokenV2) and OpenZeppelin's ERC3009 emit them in that order. No other log counts: one transaction may
 * use many authorizations, and one `Transfer` must not prove two of them.
 *
 * @throws GazewayError `upstream_bad_reply` when the receipt has no such use: the chain has changed since the use was
 *   found
 */
export function isPaidBy(
  { logs }: Pick<TransactionReceipt, 'logs'>,
  { token, recipient, payer, nonce, units }: AuthorizedPayment & { token: string; recipient: string },
): boolean {
  const args = { authorizer: payer as Hex, nonce: nonce as Hex }
  const uses = parseEventLogs({ abi: [AUTHORIZATION_USED], args, logs })
  const use = uses.find(({ address }) => address.toLowerCase() === token.toLowerCase())
  if (!use)
    throw new GazewayError(
      'upstream_bad_reply',
      'The node reported the use of an authorization, but the transaction did not use it. Check the node.',
    )
  const next = logs.filter(({ logIndex }) => logIndex === use.logIndex + 1)
  return hasTransfer({ logs: next }, { token: token.toLowerCase(), from: payer, call: transferCall(recipient, units) })
}
