import type { TransactionReceipt } from 'viem'
import type { ChainAccount } from './account.ts'
import type { Followers } from './followers.ts'
import { strangersBlock } from './foreign-transaction.ts'
import { depth } from './receipts.ts'
import type { SentTransaction } from './transactions.ts'

/** Transactions whose nonce is used on the chain. */
export interface Mined {
  /** Handles a nonce that was used by this transaction or another one. @returns whether the transaction is confirmed */
  follow(sent: SentTransaction, head: number): Promise<boolean>
  /** Stores its block; null after a reorganisation removed it. */
  noteBlock(sent: SentTransaction, receipt: TransactionReceipt | null): Promise<void>
}

/** Follows the account's mined transactions until they have `confirmations`, or those that `followers` require. */
export function createMined(account: ChainAccount, followers: Followers, confirmations: number): Mined {
  const { store, transactions } = account
  const depthOf = (sent: SentTransaction) => followers.depthOf?.(sent) ?? confirmations

  async function follow(sent: SentTransaction, head: number): Promise<boolean> {
    const { nonce, hashes, block_number } = sent
    const needed = depthOf(sent)
    if (block_number !== null && depth(head, block_number) < needed) return false
    const receipt = await account.receiptOf(hashes)
    if (receipt === null) return doubt(sent, head)
    const block = Number(receipt.blockNumber)
    if (!(await account.isFinal(receipt, { confirmations: needed, head }))) {
      if (block !== block_number) await noteBlock(sent, receipt)
      return false
    }
    await store.write(async (trx) => {
      const status = receipt.status === 'success' ? 'final' : 'reverted'
      if (await transactions.end(trx, nonce, status, block)) await followers.onFinal?.(trx, sent, receipt)
    })
    return true
  }

  async function noteBlock(sent: SentTransaction, receipt: TransactionReceipt | null): Promise<void> {
    await store.write(async (trx) => {
      await transactions.noteBlock(trx, sent.nonce, receipt && Number(receipt.blockNumber))
      await followers.onBlock?.(trx, sent, receipt)
    })
  }

  /** Handles a nonce that is used, although the node does not know this transaction. */
  async function doubt(sent: SentTransaction, head: number): Promise<false> {
    const block = await strangersBlock(account, sent, head)
    if (block === null || depth(head, block) < depthOf(sent)) return false
    // Another process may have replaced it since it was read. The nonce was then used by one of our transactions.
    if ((await transactions.find(sent.nonce))?.raw !== sent.raw) return false
    await store.write(async (trx) => {
      if (await transactions.end(trx, sent.nonce, 'lost', block)) await followers.onLost?.(trx, sent)
    })
    return false
  }

  return { follow, noteBlock }
}
