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

/** Node errors for a transaction that it already has, or whose nonce is used. Both are harmless. */
const HARMLESS = /already known|already imported|known transaction|nonce too low|nonce is lower|already exists/i

/**
 * Maximum number of pending transactions of the account that may have been signed elsewhere. A
 * node promises to keep this many of
 * one account (geth's `txpool.accountslots`), so a node that reports more is wrong. Each nonce skipped because of it
 * would block all later ones.
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

/** A contract call to send. */
export interface Order extends Call {
  /** `settlement:ESCROW` or `payment:NONCE`. */
  purpose: string
  /** Price of the call; the node is asked when absent. */
  price?: Price
  /**
   * Marks the order as carried out, in the transaction that stores the signed bytes.
   *
   * @returns false when another process did so before; nothing is sent then
   */
  claim?(trx: Transaction<Schema>, sent: SentTransaction): Promise<boolean>
}

/** The wallet's account on one chain. All processes on the store send its transactions through here. */
export interface ChainAccount {
  store: Store
  now: () => Date
  address: `0x${string}`
  node: Node
  signer: Signer
  transactions: Transactions
  /** Highest fee per unit of gas, in wei. */
  feeLimit: number
  /** Confirmations that a transaction needs, its own block included. */
  confirmations: number
  /**
   * Asks the node for everything needed before a call is signed. Signs nothing.
   *
   * @throws viem's error when the call would fail or the node does not answer
   * @throws GazewayError when the node is on another chain or reports impossible values, or when fees exceed the limit
   */
  price(call: Call): Promise<Price>
  /**
   * Signs a transaction with the account's next nonce, stores it, and then sends it. The stored bytes can be resent
   * after a crash, and the nonce is never used for anything else.
   *
   * @returns null when the order's claim failed; nothing was signed then
   * @throws as `price`; nothing was signed then. A failed send is no error, as the bytes are resent.
   */
  send(order: Order): Promise<SentTransaction | null>
  /** Sends stored bytes. @returns the node's error, or null */
  broadcast(raw: `0x${string}`): Promise<string | null>
  /** Finds the receipt of whichever of these hashes is mined; null when none is. */
  receiptOf(hashes: readonly `0x${string}`[]): Promise<TransactionReceipt | null>
  /** Tells whether a block has enough confirmations and is still part of the chain. */
  isFinal(block: Block, at?: { confirmations?: number; head?: number }): Promise<boolean>
  /** Finds the receipt of whichever of these hashes is confirmed; null when none is. */
  finalReceipt(hashes: readonly `0x${string}`[]): Promise<TransactionReceipt | null>
  /**
   * Waits for a confirmed transaction with this nonce. Retries when the node does not answer.
   *
   * @returns null on timeout
   */
  mined(nonce: number, options: { pollMs: number; timeoutMs: number }): Promise<TransactionReceipt | null>
}

/** Opens the account of `signer` on the chain of `node`. */
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

  async function price(call: Call): Promise<Price> {
    const [, count, mined, fees, gas] = await Promise.all([
      node.verify(),
      client.getTransactionCount({ address, blockTag: 'pending' }),
      client.getTransactionCount({ address, blockTag: 'latest' }),
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
      // A failed send is retried later.
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

type Block = Pick<TransactionReceipt, 'blockNumber' | 'blockHash'>

/** Number of blocks from `block` to `head`, both included. */
export const depth = (head: number, block: number): number => head - block + 1

function nullIfUnknown(error: unknown): null {
  if (error instanceof TransactionReceiptNotFoundError) return null
  throw error
}

/** The bytes are stored and sent again later, so a node that does not answer is no error. */
function nullIfUnanswered(error: unknown): null {
  if (error instanceof BaseError) return null
  throw error
}

function tooFarAhead(count: number, known: number): GazewayError {
  return new GazewayError(
    'upstream_bad_reply',
    `The node reports ${count} as the account's next nonce, but by its blocks and the transactions signed here it is ${known}. ` +
      'Nothing is signed until they agree. Check the node.',
  )
}

/** Rolls back the store's transaction, and with it the nonce. */
const taken = (purpose: string) => new GazewayError('conflict', `${purpose} is already carried out.`, { param: TAKEN })
const TAKEN = 'purpose'

function nullIfTaken(error: unknown): null {
  if (error instanceof GazewayError && error.code === 'conflict' && error.param === TAKEN) return null
  throw error
}
