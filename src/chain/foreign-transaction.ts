import type { ChainAccount } from './account.ts'
import type { SentTransaction } from './transactions.ts'

/**
 * Finds the block in which a transaction signed elsewhere used a nonce of the account. A missing receipt proves
 * nothing, because a node may lag behind. The account's nonce on the chain is the proof.
 *
 * @param head the latest block
 * @returns null without proof
 * @throws viem's error when the node no longer has the state; nodes without an archive drop it after some hours
 */
export async function strangersBlock(
  { node: { client }, address }: ChainAccount,
  { nonce, hashes }: Pick<SentTransaction, 'nonce' | 'hashes'>,
  head: number,
): Promise<number | null> {
  const isUsedAt = async (block: number) =>
    (await client.getTransactionCount({ address, blockNumber: BigInt(block) })) > nonce
  if (!(await isUsedAt(head))) return null
  // Finds the last block before it in doubling steps, then the block itself by bisection.
  let used = head
  let step = 1
  while (used - step >= 0 && (await isUsedAt(used - step))) {
    used -= step
    step *= 2
  }
  let unused = used - step
  while (used - unused > 1) {
    const middle = unused + Math.floor((used - unused) / 2)
    if (middle >= 0 && (await isUsedAt(middle))) used = middle
    else unused = middle
  }
  const { transactions } = await client.getBlock({ blockNumber: BigInt(used), includeTransactions: true })
  const found = transactions.find((one) => one.from.toLowerCase() === address && one.nonce === nonce)
  return found && !hashes.includes(found.hash) ? used : null
}
