import { setTimeout as delay } from 'node:timers/promises'
import type { Transaction } from 'kysely'
import { BaseError, type TransactionReceipt } from 'viem'
import { GazewayError } from '../errors.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { Node } from './chain-node.ts'
import { type Call, type Price, priceOf } from './price.ts'
import { createReceipts, type Receipts } from './receipts.ts'
import type { Signer } from './signer.ts'
import { createTransactions, type SentTransaction, type Transactions } from './transactions.ts'

/** Node errors for a transaction that it already has, or whose nonce is used. Both are harmless. */
const HARMLESS = /already known|already imported|known transaction|nonce too low|nonce is lower|already exists/i

export type { Price } from './price.ts'

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
export interface ChainAccount extends Receipts {
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
  /** @see priceOf */
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
  /**
   * Waits for a confirmed transaction with this nonce. Retries when the node does not answer.
   *
   * @returns null on timeout
   */
  mined(nonce: number, options: { pollMs: number; timeoutMs: number }): Promise<TransactionReceipt | null>
}

/** Opens the account of `signer` on the chain of `node`. */
export function openAccount(
  deps: Pick<ChainAccount, 'store' | 'now' | 'node' | 'signer' | 'feeLimit' | 'confirmations'>,
): ChainAccount {
  const { store, now, node, signer, feeLimit, confirmations } = deps
  const { client, chainId } = node
  const { address } = signer
  const transactions = createTransactions(store, { chainId, address })
  const receipts = createReceipts(node, confirmations)
  const price = (call: Call) => priceOf({ node, address, transactions, feeLimit }, call)

  async function broadcast(raw: `0x${string}`): Promise<string | null> {
    try {
      await client.sendRawTransaction({ serializedTransaction: raw })
      return null
    } catch (error) {
      const harmless = error instanceof BaseError && HARMLESS.test(`${error.details} ${error.message}`)
      return harmless ? null : node.faultOf(error)
    }
  }

  return {
    ...deps,
    ...receipts,
    address,
    transactions,
    broadcast,
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
        const receipt = await receipts.finalReceipt(hashes).catch(nullIfUnanswered)
        if (receipt) return receipt
        if (performance.now() > until) return null
        await delay(pollMs)
      }
    },
  }
}

/** The bytes are stored and sent again later, so a node that does not answer is no error. */
function nullIfUnanswered(error: unknown): null {
  if (error instanceof BaseError) return null
  throw error
}

/** Rolls back the store's transaction, and with it the nonce. */
const taken = (purpose: string) => new GazewayError('conflict', `${purpose} is already carried out.`, { param: TAKEN })
const TAKEN = 'purpose'

function nullIfTaken(error: unknown): null {
  if (error instanceof GazewayError && error.code === 'conflict' && error.param === TAKEN) return null
  throw error
}
