import type { Transaction } from 'kysely'
import { BaseError, type TransactionReceipt } from 'viem'
import { GazewayError } from '../errors.ts'
import type { Schema } from '../store/schema.ts'
import type { Node } from './chain-node.ts'
import type { SentTransaction } from './transactions.ts'

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

/** Runs work of one transaction. Its error, such as fees above the limit, is reported and does not stop the others. */
export async function attempt(
  node: Node,
  { onFault }: Followers,
  sent: SentTransaction,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof BaseError || error instanceof GazewayError)) throw error
    await onFault?.(sent, node.faultOf(error))
  }
}
