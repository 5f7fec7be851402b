import type { ChainAccount } from './account.ts'
import type { SentTransaction } from './transactions.ts'

/**
 * The block in which a number of the account went to a transaction that was signed elsewhere. Only that transaction
 * itself proves it: a node that does not know a receipt may just be behind.
 *
 * @param head the newest block
 * @returns null when there is no proof
 * @throws viem's error when the node has no states so old, as one that is no archive after some hours
 */
export async function strangersBlock(
  { node: { client }, address }: ChainAccount,
  { nonce, hashes }: Pick<SentTransaction, 'nonce' | 'hashes'>,
  head: number,
): Promise<number | null> {
  const isUsedAt = async (block: number) =>
    (await client.getTransactionCount({ address, blockNumber: BigInt(block) })) > nonce
  if (!(await isUsedAt(head))) return null
  // The last block without it, by steps that double; then the first block with it, by halving.
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
