import type { Hex, PublicClient, TransactionReceipt } from 'viem'
import type { ChainAccount } from '../chain/account.ts'
import { GazewayError } from '../errors.ts'
import { TOKEN } from './authorization.ts'
import { AUTHORIZATION_USED, type AuthorizedPayment, isPaidBy } from './authorization-use.ts'
import { PURPOSE } from './gas-budget.ts'

/** Blocks that are searched for the use of an authorization. Nodes limit the block range of event searches. */
const RECENT_BLOCKS = 5000n

/** The transaction that used an authorization. */
export interface AuthorizationUse {
  receipt: TransactionReceipt
  /** True if it carried the payment out. */
  isPayment: boolean
}

/** Uses of authorizations on the chain. */
export interface AuthorizationUses {
  /** Finds the current use of an authorization; null when unused. */
  useOf(payment: AuthorizedPayment): Promise<AuthorizationUse | null>
  /** Finds the confirmed transaction that carried a payment out; null when there is none. */
  find(payment: AuthorizedPayment): Promise<Hex | null>
  /** Tells whether a transaction signed here may still be mined, or another one has carried the payment out. */
  isOpen(payment: AuthorizedPayment): Promise<boolean>
  /** Tells whether a confirmed transaction used the authorization for something other than its payment. */
  isSpent(payment: AuthorizedPayment): Promise<boolean>
}

/** Finds uses of authorizations of `token`, for payments to `recipient`. */
export function createAuthorizationUses(
  account: ChainAccount,
  { token, recipient }: { token: Hex; recipient: string },
): AuthorizationUses {
  const { client } = account.node

  async function find(payment: AuthorizedPayment): Promise<Hex | null> {
    // Transactions signed here are found by their hashes, whatever their age.
    const own = await account.transactions.findFor(PURPOSE + payment.nonce)
    const receipt = own && (await account.finalReceipt(own.hashes))
    if (receipt?.status === 'success') return receipt.transactionHash
    const use = await useOf(payment)
    return use?.isPayment && (await account.isFinal(use.receipt)) ? use.receipt.transactionHash : null
  }

  async function useOf(payment: AuthorizedPayment): Promise<AuthorizationUse | null> {
    const { payer, nonce } = payment
    const authorization = { authorizer: payer as Hex, nonce: nonce as Hex }
    const used = await client.readContract({
      address: token,
      abi: TOKEN,
      functionName: 'authorizationState',
      args: [authorization.authorizer, authorization.nonce],
    })
    if (!used) return null
    const [event] = await client.getLogs({
      address: token,
      event: AUTHORIZATION_USED,
      args: authorization,
      fromBlock: await recentBlock(client),
    })
    // The payer cancelled it, or it was used too long ago to be an interrupted payment.
    if (!event) return null
    const receipt = await account.receiptOf([event.transactionHash])
    if (!receipt)
      throw new GazewayError('upstream_bad_reply', 'The node returned an event but no receipt for it. Check the node.')
    // A transaction signed here uses no other authorization, in whatever order the token logs.
    const own = await account.transactions.findFor(PURPOSE + nonce)
    const isOwn = own?.hashes.includes(receipt.transactionHash) ?? false
    return { receipt, isPayment: isOwn || isPaidBy(receipt, { token, recipient, ...payment }) }
  }

  return {
    useOf,
    find,
    async isOpen(payment) {
      const own = await account.transactions.findFor(PURPOSE + payment.nonce)
      if (own?.status === 'sent' && (await account.finalReceipt(own.hashes)) === null) return true
      return (await useOf(payment))?.isPayment ?? false
    },
    async isSpent(payment) {
      const use = await useOf(payment)
      return use !== null && !use.isPayment && (await account.isFinal(use.receipt))
    },
  }
}

async function recentBlock(client: Pick<PublicClient, 'getBlockNumber'>): Promise<bigint> {
  const newest = await client.getBlockNumber()
  return newest > RECENT_BLOCKS ? newest - RECENT_BLOCKS : 0n
}
