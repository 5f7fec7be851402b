import type { Transaction } from 'kysely'
import { BaseError, type TransactionReceipt } from 'viem'
import { GazewayError } from '../errors.ts'
import type { Schema } from '../store/schema.ts'
import { type ChainAccount, depth } from './account.ts'
import { bumpFees, suggestFees } from './fees.ts'
import { EMPTY_GAS, gasFor } from './gas.ts'
import { isRevert } from './revert.ts'
import { keyMissing } from './signer.ts'
import { strangersBlock } from './stranger.ts'
import type { SentTransaction } from './transactions.ts'

/** Transactions that are sent again in one round: those behind them wait for them anyway. */
const MOST_RESENT = 16
/** The gas of a transaction whose call would fail now: more than a transfer takes, and little enough for any block. */
const FAILING_GAS = 500_000

/** What nothing was signed in place of. */
const STANDING = new Set(['sent', 'final'])

/** Told what becomes of the account's transactions. */
export interface Followers {
  /** Whether this one is followed here; others are only kept on their way. */
  follows(sent: SentTransaction): boolean
  /** Blocks that hold this one, its own included, before it is looked after no more; `confirmations` where absent. */
  depthOf?(sent: SentTransaction): number
  /** In the transaction that notes it: it is in a block, which is not deep yet; null: it is in none any more. */
  onBlock?(trx: Transaction<Schema>, sent: SentTransaction, receipt: TransactionReceipt | null): Promise<void>
  /** In the transaction that notes it: it is in a block that is deep enough; its call may have failed. */
  onFinal?(trx: Transaction<Schema>, sent: SentTransaction, receipt: TransactionReceipt): Promise<void>
  /** In the transaction that notes it: its number went to another one, so that nothing signed with it can be taken. */
  onLost?(trx: Transaction<Schema>, sent: SentTransaction): Promise<void>
  /** It was replaced by one with a higher fee. */
  onReplaced?(sent: SentTransaction): Promise<void>
  /** It cannot go on for now. */
  onFault?(sent: SentTransaction, fault: string): Promise<void>
}

/** How an account is tended. */
export interface TendOptions {
  /** Blocks that hold a transaction, its own included, before it is looked after no more. */
  confirmations: number
  /** How long the first in line may wait before its fee is raised, in milliseconds. */
  stuckMs: number
  /** How often bytes are sent again, in milliseconds. */
  resendMs: number
}

/**
 * Looks after what an account has sent until it is final: sends again what a node has lost, raises the fee of what is
 * stuck, and follows the chain when it takes a block back.
 *
 * @returns does one round
 */
export function createTending(
  deps: { account: ChainAccount; followers: Followers } & TendOptions,
): () => Promise<void> {
  const { account, followers, confirmations, stuckMs, resendMs } = deps
  const { store, now, node, transactions, address, signer, feeLimit } = account
  const { client, chainId } = node
  const depthOf = (sent: SentTransaction) => followers.depthOf?.(sent) ?? confirmations
  const resent = new Map<number, number>()
  let first = { nonce: -1, since: 0 }

  async function round(): Promise<void> {
    const open = await transactions.open()
    if (open.length === 0) return
    const [head, count] = await Promise.all([
      client.getBlockNumber().then(Number),
      client.getTransactionCount({ address, blockTag: 'latest' }),
      node.verify(),
    ])
    if (first.nonce !== count) first = { nonce: count, since: now().getTime() }
    const followed = open.filter(followers.follows)
    for (const sent of followed) if (sent.nonce < count) await attempt(sent, () => follow(sent, head))
    const waiting = open.filter(({ nonce }) => nonce >= count)
    for (const sent of followed) if (sent.nonce >= count && sent.block_number !== null) await takeBack(sent)
    const [next] = waiting
    if (next) await attempt(next, () => closeGap(next, count))
    const gap = await findGap(waiting, count)
    const hindrance = ({ nonce }: SentTransaction) => {
      // Sent again as it is, it may go through yet; what it takes beyond that is a signature.
      if (!signer.hasKey) return isStuck() ? keyMissing(address).message : null
      return gap !== null && nonce > gap ? behind(gap) : null
    }
    for (const sent of waiting.slice(0, MOST_RESENT)) await attempt(sent, () => push(sent, hindrance(sent)))
    for (const sent of waiting.slice(MOST_RESENT)) await tell(sent, hindrance(sent))
  }

  /** The first number from `count` on that nothing was signed with here, and that others wait behind. */
  async function findGap(waiting: readonly SentTransaction[], count: number): Promise<number | null> {
    const at = waiting.findIndex(({ nonce }, i) => nonce !== count + i)
    if (at === -1) return null
    const earlier = await transactions.find(count + at)
    return earlier && STANDING.has(earlier.status) ? null : count + at
  }

  const isStuck = () => now().getTime() - first.since >= stuckMs

  async function tell(sent: SentTransaction, fault: string | null): Promise<void> {
    if (fault !== null) await followers.onFault?.(sent, fault)
  }

  /** What cannot be done for one, as when fees are above the limit, is no reason to leave the others alone. */
  async function attempt(sent: SentTransaction, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof BaseError || error instanceof GazewayError)) throw error
      await followers.onFault?.(sent, node.faultOf(error))
    }
  }

  async function takeBack(sent: SentTransaction): Promise<void> {
    resent.delete(sent.nonce)
    await noteBlock(sent, null)
  }

  /** It, or another one with its number, is in a block. */
  async function follow(sent: SentTransaction, head: number): Promise<void> {
    const { nonce, hashes, block_number } = sent
    const needed = depthOf(sent)
    if (block_number !== null && depth(head, block_number) < needed) return
    const receipt = await account.receiptOf(hashes)
    if (receipt === null) return doubt(sent, head)
    const block = Number(receipt.blockNumber)
    if (!(await account.isFinal(receipt, { confirmations: needed, head }))) {
      if (block !== block_number) await noteBlock(sent, receipt)
      return
    }
    resent.delete(nonce)
    await store.write(async (trx) => {
      const status = receipt.status === 'success' ? 'final' : 'reverted'
      if (await transactions.end(trx, nonce, status, block)) await followers.onFinal?.(trx, sent, receipt)
    })
  }

  async function noteBlock(sent: SentTransaction, receipt: TransactionReceipt | null): Promise<void> {
    await store.write(async (trx) => {
      await transactions.noteBlock(trx, sent.nonce, receipt && Number(receipt.blockNumber))
      await followers.onBlock?.(trx, sent, receipt)
    })
  }

  /** Its number is used up, and the node does not know it. */
  async function doubt(sent: SentTransaction, head: number): Promise<void> {
    const block = await strangersBlock(account, sent, head)
    if (block === null || depth(head, block) < depthOf(sent)) return
    // Another process may have replaced it since it was read: then that stranger is one of ours.
    if ((await transactions.find(sent.nonce))?.raw !== sent.raw) return
    await store.write(async (trx) => {
      if (await transactions.end(trx, sent.nonce, 'lost', block)) await followers.onLost?.(trx, sent)
    })
  }

  /**
   * It is in no block yet.
   *
   * @param hindrance what keeps it from one, as far as that is known here
   */
  async function push(sent: SentTransaction, hindrance: string | null): Promise<void> {
    const at = now().getTime()
    if (
      signer.hasKey &&
      sent.nonce === first.nonce &&
      at - Math.max(first.since, Date.parse(sent.signed_at)) >= stuckMs
    )
      return replace(sent)
    if (at - (resent.get(sent.nonce) ?? -resendMs) < resendMs) return
    resent.set(sent.nonce, at)
    const fault = await account.broadcast(sent.raw)
    await tell(
      sent,
      signer.hasKey ? (hindrance ?? fault) : (hindrance ?? (fault && `${fault} ${keyMissing(address).message}`)),
    )
  }

  async function replace(sent: SentTransaction): Promise<void> {
    const { nonce, max_fee, priority_fee, hashes } = sent
    const fees = bumpFees({ maxFee: max_fee, priorityFee: priority_fee }, await suggestFees(node, feeLimit), feeLimit)
    if (fees === null) {
      first.since = now().getTime()
      resent.delete(nonce)
      return followers.onFault?.(
        sent,
        'No block has taken it, and its fee cannot be raised: see chain.settlement.max_fee_gwei.',
      )
    }
    const call = { to: sent.to_address as `0x${string}`, data: sent.data as `0x${string}` }
    // It may wait because of its gas. Even if it fails, its number has to be used, or all that is behind it waits, too.
    const gas = await gasFor(node, { account: address, ...call }).catch(failingGas)
    const { raw, hash } = await signer.sign({ chainId, nonce, ...call, gas, fees })
    const by = {
      raw,
      gas,
      hashes: [...hashes, hash],
      max_fee: fees.maxFee,
      priority_fee: fees.priorityFee,
      signed_at: now().toISOString(),
    }
    if (!(await transactions.replace(sent, by))) return
    resent.set(nonce, now().getTime())
    await followers.onReplaced?.({ ...sent, ...by })
    await tell(sent, await account.broadcast(raw))
  }

  /**
   * The number that comes first is none of those that wait: what was final has been taken back with its block, and is
   * sent again. Or it was meant for a transaction that was signed elsewhere and got lost, or for one of ours that another
   * number has replaced since: it gets one that does nothing.
   */
  async function closeGap(next: SentTransaction, count: number): Promise<void> {
    if (next.nonce === count) return
    const earlier = await transactions.find(count)
    if (earlier && STANDING.has(earlier.status)) return void (await account.broadcast(earlier.raw))
    if (!signer.hasKey || !isStuck()) return
    const fees = await suggestFees(node, feeLimit)
    const { raw } = await signer.sign({ chainId, nonce: count, to: address, data: '0x', gas: EMPTY_GAS, fees })
    first.since = now().getTime()
    await tell(next, await account.broadcast(raw))
  }

  return round
}

const behind = (gap: number): string =>
  `It waits for the account's number ${gap}, with which nothing was signed here that can still be taken. If it stays free, ` +
  'it is used up by an empty transaction after chain.settlement.stuck_after_seconds, and so is each number that is missing.'

function failingGas(error: unknown): number {
  if (isRevert(error)) return FAILING_GAS
  throw error
}
