import { setTimeout as delay } from 'node:timers/promises'
import type { Transaction } from 'kysely'
import { BaseError, type TransactionReceipt, TransactionReceiptNotFoundError } from 'viem'
import { GazewayError } from '../errors.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import { type Fees, suggestFees } from './fees.ts'
import { gasFor } from './gas.ts'
import type { Node } from './node.ts'
import type { Signer } from './signer.ts'
import { createTransactions, type SentTransaction, type Transactions } from './transactions.ts'

/** What a node answers to bytes that it has, or whose number is used up: nothing is wrong then. */
const HARMLESS = /already known|already imported|known transaction|nonce too low|nonce is lower|already exists/i

/**
 * Transactions of the account that others may have signed and that wait in the node: as many as a node promises to keep of
 * one account (geth's `txpool.accountslots`). One that counts more is wrong, and each number that is left out on its word
 * holds up all that comes behind it.
 */
const MOST_FOREIGN = 16

/** What a call is to do on the chain. */
export interface Call {
  to: `0x${string}`
  data: `0x${string}`
}

/** What a node says that a call takes now. */
export interface Price {
  /** The account's next number. */
  count: number
  fees: Fees
  gas: number
}

/** A call that is to be made on the chain. */
export interface Order extends Call {
  /** `settlement:ESCROW` or `payment:NONCE`. */
  purpose: string
  /** What it takes; the node is asked when absent. */
  price?: Price
  /**
   * Notes, in the transaction that stores what was signed, that the order is carried out.
   *
   * @returns false when it is not to be, because another process was faster
   */
  claim?(trx: Transaction<Schema>, sent: SentTransaction): Promise<boolean>
}

/** The wallet's account on one chain. All of its transactions go through here, in every process on the store. */
export interface ChainAccount {
  store: Store
  now: () => Date
  address: `0x${string}`
  node: Node
  signer: Signer
  transactions: Transactions
  /** The most that a unit of gas may cost, in wei. */
  feeLimit: number
  /** Blocks that hold a transaction, its own included, before it counts. */
  confirmations: number
  /**
   * Asks the node all that has to be known before a call is signed. Nothing is signed here.
   *
   * @throws viem's error when the call would fail or the node cannot be asked, GazewayError when the node is of another
   *   chain, says what cannot be, or fees are above the limit
   */
  price(call: Call): Promise<Price>
  /**
   * Signs a transaction with the account's next number, stores it, and only then sends it: whatever happens afterwards,
   * the same bytes can be sent again, and the number is used for nothing else.
   *
   * @returns null when the order's claim failed; nothing was signed for use then
   * @throws as `price`; nothing was signed then. That it could not be sent is no error: it is sent again.
   */
  send(order: Order): Promise<SentTransaction | null>
  /** Sends stored bytes. @returns what the node had against it; null is nothing */
  broadcast(raw: `0x${string}`): Promise<string | null>
  /** The receipt of whichever of these hashes is in a block; null when none is. */
  receiptOf(hashes: readonly `0x${string}`[]): Promise<TransactionReceipt | null>
  /** Whether a block is as deep as it has to be, and still the chain's own at its height. */
  isFinal(block: Block, at?: { confirmations?: number; head?: number }): Promise<boolean>
  /** The receipt of whichever of these hashes is in a block that is final; null when none is. */
  finalReceipt(hashes: readonly `0x${string}`[]): Promise<TransactionReceipt | null>
  /**
   * Waits until what was signed with a number is in a block that is final. A node that cannot be asked is asked again.
   *
   * @returns null when it is in none in time
   */
  mined(nonce: number, options: { pollMs: number; timeoutMs: number }): Promise<TransactionReceipt | null>
}

/** The account of `signer` on the chain of `node`. */
export function openAccount(deps: {
  store: Store
  now: () => Date
  node: Node
  signer: Signer
  feeLimit: number
  confirmations: number
}): ChainAccount {
  const { store, now, node, signer, feeLimit, confirmations } = deps
  const { client, chainId } = node
  const { address } = signer
  const transactions = createTransactions(store, { chainId, address })

  async function broadcast(raw: `0x${string}`): Promise<string | null> {
    try {
      await client.sendRawTransaction({ serializedTransaction: raw })
      return null
    } catch (error) {
      const harmless = error instanceof BaseError && HARMLESS.test(`${error.details} ${error.message}`)
      return harmless ? null : node.faultOf(error)
    }
  }

  async function receiptOf(hashes: readonly `0x${string}`[]): Promise<TransactionReceipt | null> {
    for (const hash of hashes.toReversed()) {
      const receipt = await client.getTransactionReceipt({ hash }).catch(nullIfUnknown)
      // Some nodes answer with a receipt that says nothing while there is none.
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

  async function price(call: Call): Promise<Price> {
    const [, count, mined, fees, gas] = await Promise.all([
      node.verify(),
      client.getTransactionCount({ address, blockTag: 'pending' }),
      client.getTransactionCount({ address, blockTag: 'latest' }),
      suggestFees(node, feeLimit),
      gasFor(node, { account: address, ...call }),
    ])
    if (![count, mined, gas, fees.maxFee, fees.priorityFee ?? 0].every(Number.isSafeInteger))
      throw new GazewayError('upstream_bad_reply', 'The node answered something that is no number.')
    // Read after the node was asked: it may know what another process has just signed.
    const known = Math.max(mined, await transactions.nextNonce())
    if (count > known + MOST_FOREIGN) throw tooFarAhead(count, known)
    return { count, fees, gas }
  }

  return {
    store,
    now,
    address,
    node,
    signer,
    transactions,
    feeLimit,
    confirmations,
    broadcast,
    receiptOf,
    isFinal,
    finalReceipt,
    price,

    async send({ purpose, to, data, claim, price: known }) {
      const { count, fees, gas } = known ?? (await price({ to, data }))
      const sent = await store
        .write(async (trx) => {
          const nonce = await transactions.takeNonce(trx, count)
          const { raw, hash } = await signer.sign({ chainId, nonce, to, data, gas, fees })
          const at = now().toISOString()
          const transaction = {
            ...{ chain_id: chainId, address, nonce, purpose, status: 'sent', to_address: to, data, gas },
            ...{ max_fee: fees.maxFee, priority_fee: fees.priorityFee, raw, hashes: [hash] },
            ...{ block_number: null, signed_at: at, created_at: at },
          }
          if (claim && !(await claim(trx, transaction))) throw taken(purpose)
          await transactions.add(trx, transaction)
          return transaction
        })
        .catch(nullIfTaken)
      // What the node has against it now it may not have later.
      if (sent) await broadcast(sent.raw)
      return sent
    },

    async mined(nonce, { pollMs, timeoutMs }) {
      const until = performance.now() + timeoutMs
      for (;;) {
        const hashes = (await transactions.find(nonce))?.hashes ?? []
        const receipt = await finalReceipt(hashes).catch(nullIfUnanswered)
        if (receipt) return receipt
        if (performance.now() > until) return null
        await delay(pollMs)
      }
    },
  }
}

/** A block as receipts and events tell of it. */
type Block = Pick<TransactionReceipt, 'blockNumber' | 'blockHash'>

/** Blocks from a block to the newest one, both included. */
export const depth = (head: number, block: number): number => head - block + 1

function nullIfUnknown(error: unknown): null {
  if (error instanceof TransactionReceiptNotFoundError) return null
  throw error
}

/** It was sent, so what the node does not tell now it may tell later. */
function nullIfUnanswered(error: unknown): null {
  if (error instanceof BaseError) return null
  throw error
}

function tooFarAhead(count: number, known: number): GazewayError {
  return new GazewayError(
    'upstream_bad_reply',
    `The node says that the account's next number is ${count}, but by its blocks and by what was signed here it is ${known}. ` +
      'Nothing is signed while it says so.',
  )
}

/** Gives the store's transaction up, and with it the number that was taken there. */
const taken = (purpose: string) => new GazewayError('conflict', `${purpose} is carried out already.`, { param: TAKEN })
const TAKEN = 'purpose'

function nullIfTaken(error: unknown): null {
  if (error instanceof GazewayError && error.code === 'conflict' && error.param === TAKEN) return null
  throw error
}
