import { GazewayError } from '../errors.ts'
import type { Node } from './chain-node.ts'
import { type Fees, suggestFees } from './fees.ts'
import { gasFor } from './gas.ts'
import type { Transactions } from './transactions.ts'

/**
 * Maximum number of pending transactions of the account that may have been signed elsewhere. A node promises to
 * keep this many of one account (geth's `txpool.accountslots`), so a node that reports more is wrong. Each nonce skipped
 * because of it would block all later ones.
 */
const MAX_FOREIGN = 16

/** A call of a contract, to be signed as a transaction. */
export interface Call {
  to: `0x${string}`
  data: `0x${string}`
}

/** Current price of a call according to the node. */
export interface Price {
  /** The account's next nonce. */
  count: number
  fees: Fees
  gas: number
}

interface PricedAccount {
  node: Node
  address: `0x${string}`
  transactions: Transactions
  /** Highest fee per unit of gas, in wei. */
  feeLimit: number
}

/**
 * Asks the node for everything needed before a call is signed. Signs nothing.
 *
 * @param from the account, and its highest fee per unit of gas in wei
 * @throws viem's error when the call would fail or the node does not answer
 * @throws GazewayError when the node is on another chain or reports impossible values, or when fees exceed the limit
 */
export async function priceOf({ node, address, transactions, feeLimit }: PricedAccount, call: Call): Promise<Price> {
  const [, count, mined, fees, gas] = await Promise.all([
    node.verify(),
    node.client.getTransactionCount({ address, blockTag: 'pending' }),
    node.client.getTransactionCount({ address, blockTag: 'latest' }),
    suggestFees(node, feeLimit),
    gasFor(node, { account: address, ...call }),
  ])
  if (![count, mined, gas, fees.maxFee, fees.priorityFee ?? 0].every(Number.isSafeInteger))
    throw new GazewayError(
      'upstream_bad_reply',
      'The node returned a nonce, gas or fee that is not a whole number. Check the node.',
    )
  // Read after the node's reply, which may include a transaction that another process has just signed.
  const known = Math.max(mined, await transactions.nextNonce())
  if (count > known + MAX_FOREIGN) throw tooFarAhead(count, known)
  return { count, fees, gas }
}

function tooFarAhead(count: number, known: number): GazewayError {
  return new GazewayError(
    'upstream_bad_reply',
    `The node reports ${count} as the account's next nonce, but by its blocks and the transactions signed here it is ${known}. ` +
      'Nothing is signed until they agree. Check the node.',
  )
}
