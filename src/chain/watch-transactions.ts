import type { ChainAccount } from './account.ts'
import { attempt, type Followers } from './followers.ts'
import { createMined } from './mined-transactions.ts'
import { createPending, type PendingOptions } from './stuck-transactions.ts'

/** Options of {@link createTending}. */
export interface TendOptions extends PendingOptions {
  account: ChainAccount
  followers: Followers
  /** Confirmations after which a transaction is no longer watched. */
  confirmations: number
}

/**
 * Watches the account's transactions until they are confirmed: resends those that a node lost, raises the fee of stuck
 * ones, and follows reorganisations of the chain.
 *
 * @returns a function that runs one round
 */
export function createTending({ account, followers, confirmations, ...options }: TendOptions): () => Promise<void> {
  const { node, transactions, address } = account
  const mined = createMined(account, followers, confirmations)
  const pending = createPending(account, followers, options)

  return async () => {
    const open = await transactions.open()
    if (open.length === 0) return
    const [head, count] = await Promise.all([
      node.client.getBlockNumber().then(Number),
      node.client.getTransactionCount({ address, blockTag: 'latest' }),
      node.verify(),
    ])
    const followed = open.filter(followers.follows)
    for (const sent of followed.filter(({ nonce }) => nonce < count))
      await attempt(node, followers, sent, async () => {
        if (await mined.follow(sent, head)) pending.forget(sent.nonce)
      })
    for (const sent of followed.filter(({ nonce, block_number }) => nonce >= count && block_number !== null)) {
      pending.forget(sent.nonce)
      await mined.noteBlock(sent, null)
    }
    await pending.tend(
      open.filter(({ nonce }) => nonce >= count),
      count,
    )
  }
}
