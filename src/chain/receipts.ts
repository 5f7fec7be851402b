import { type TransactionReceipt, TransactionReceiptNotFoundError } from 'viem'
import type { Node } from './chain-node.ts'

type Block = Pick<TransactionReceipt, 'blockNumber' | 'blockHash'>

/** Receipts of the account's transactions. */
export interface Receipts {
  /** Finds the receipt of whichever of these hashes is mined; null when none is. */
  receiptOf(hashes: readonly `0x${string}`[]): Promise<TransactionReceipt | null>
  /** Tells whether a block has enough confirmations and is still part of the chain. */
  isFinal(block: Block, at?: { confirmations?: number; head?: number }): Promise<boolean>
  /** Finds the receipt of whichever of these hashes is confirmed; null when none is. */
  finalReceipt(hashes: readonly `0x${string}`[]): Promise<TransactionReceipt | null>
}

/** @param confirmations confirmations that a transaction needs, its own block included */
export function createReceipts({ client }: Node, confirmations: number): Receipts {
  async function receiptOf(hashes: readonly `0x${string}`[]): Promise<TransactionReceipt | null> {
    for (const hash of hashes.toReversed()) {
      const receipt = await client.getTransactionReceipt({ hash }).catch(nullIfUnknown)
      // Some nodes return an empty receipt instead of none.
      if (receipt?.status && receipt.blockHash && receipt.blockNumber !== null) return receipt
    }
    return null
  }

  async function isFinal(
    { blockNumber, blockHash }: Block,
    at: { confirmations?: number; head?: number } = {},
  ): Promise<boolean> {
    const head = at.head ?? Number(await client.getBlockNumber())
    if (depth(head, Number(blockNumber)) < (at.confirmations ?? confirmations)) return false
    return (await client.getBlock({ blockNumber })).hash === blockHash
  }

  async function finalReceipt(hashes: readonly `0x${string}`[]): Promise<TransactionReceipt | null> {
    const receipt = await receiptOf(hashes)
    return receipt && (await isFinal(receipt)) ? receipt : null
  }

  return { receiptOf, isFinal, finalReceipt }
}

/** Number of blocks from `block` to `head`, both included. */
export const depth = (head: number, block: number): number => head - block + 1

function nullIfUnknown(error: unknown): null {
  if (error instanceof TransactionReceiptNotFoundError) return null
  throw error
}
