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

/** Resent transactions per round; later ones wait for them anyway. */
const MAX_RESENT = 16
/** Gas of a transaction whose call would fail now: more than a transfer needs, and little compared to a block. */
const FAILING_GAS = 500_000

/** Statuses of transactions without a replacement. */
const STANDING = new Set(['sent', 'final'])

/** Callbacks for the account's transactions. */
export interface Followers {
  /** Selects transactions to follow; others are only kept moving. */
  follows(sent: SentTransaction): boolean
  /** Confirmations after which a transaction is no longer watched; `confirmations` by default. */
  depthOf?(sent: SentTransaction): number
  /** Called in the transaction that stores it: mined but not confirmed; null after a reorganisation removed it. */
  onBlock?(trx: Transaction<Schema>, sent: SentTransaction, receipt: TransactionReceipt | null): Promise<void>
  /** Called in the transaction that stores it: confirmed. The call may have failed. */
  onFinal?(trx: Transaction<Schema>, sent: SentTransaction, receipt: TransactionReceipt): Promise<void>
  /** Called in the transaction that stores it: another transaction used its nonce. */
  onLost?(trx: Transaction<Schema>, sent: SentTransaction): Promise<void>
  /** Called after a replacement with a higher fee. */
  onReplaced?(sent: SentTransaction): Promise<void>
  /** Called when a transaction cannot proceed for now. */
  onFault?(sent: SentTransaction, fault: string): Promise<void>
}

/** Options of {@link createTending}. */
export interface TendOptions {
  /** Confirmations after which a transaction is no longer watched. */
  confirmations: number
  /** Age at which the first pending transaction gets a higher fee, in milliseconds. */
  stuckMs: number
  /** Interval between resends in milliseconds. */
  resendMs: number
}

/**
 * Watches the account's transactions until they are confirmed: resends those that a node lost, raises the fee of stuck
 * ones, and follows reorganisations of the chain.
 *
 * @returns a function that runs one round
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
      // Resending it unchanged may still get it mined; any other step needs a signature.
      if (!signer.hasKey) return isStuck() ? keyMissing(address).message : null
      return gap !== null && nonce > gap ? behind(gap) : null
    }
    for (const sent of waiting.slice(0, MAX_RESENT)) await attempt(sent, () => push(sent, hindrance(sent)))
    for (const sent of waiting.slice(MAX_RESENT)) await tell(sent, hindrance(sent))
  }

  /** Finds the first nonce from `count` on without a usable transaction, when later ones wait for it. */
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

  /** Keeps an error of one transaction, such as fees above the limit, from stopping the others. */
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

  /** Handles a nonce that was used by this transaction or another one. */
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

  /** Handles a nonce that is used, although the node does not know this transaction. */
  async function doubt(sent: SentTransaction, head: number): Promise<void> {
    const block = await strangersBlock(account, sent, head)
    if (block === null || depth(head, block) < depthOf(sent)) return
    // Another process may have replaced it since it was read. The nonce was then used by one of our transactions.
    if ((await transactions.find(sent.nonce))?.raw !== sent.raw) return
    await store.write(async (trx) => {
      if (await transactions.end(trx, sent.nonce, 'lost', block)) await followers.onLost?.(trx, sent)
    })
  }

  /**
   * Handles a transaction that is not mined yet.
   *
   * @param hindrance known reason why it is not
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
        'It is not mined, and a higher fee would exceed chain.settlement.max_fee_gwei. Raise that limit, or wait for lower fees.',
      )
    }
    const call = { to: sent.to_address as `0x${string}`, data: sent.data as `0x${string}` }
    // The gas may be the reason. Even a failing call must use the nonce, because all later ones wait for it.
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
   * Handles a next nonce of the account that is not among the pending transactions. Either a reorganisation removed a
   * confirmed transaction, which is resent. Or the nonce belonged to a lost transaction, signed elsewhere or replaced
   * under another nonce; an empty transaction then uses it.
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
  `It waits for the account's nonce ${gap}, for which no transaction signed here is pending. If the nonce stays unused, ` +
  'an empty transaction uses it after chain.settlement.stuck_after_seconds.'

function failingGas(error: unknown): number {
  if (isRevert(error)) return FAILING_GAS
  throw error
}
