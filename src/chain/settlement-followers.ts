import type { Transaction } from 'kysely'
import type { TransactionReceipt } from 'viem'
import type { Schema } from '../store/schema.ts'
import type { ChainAccount } from './account.ts'
import type { Outbox } from './chain-outbox.ts'
import type { Followers } from './followers.ts'
import type { SettlementChain } from './settlement-settings.ts'
import { hasTransfer } from './token-transfer.ts'
import type { SentTransaction } from './transactions.ts'

/** Prefix of the purpose of a settlement's transaction. */
export const SETTLEMENT = 'settlement:'
/** Fewest confirmations after which the transaction of an HTTP payment is no longer watched. */
const PAYMENT_TENDED = 2
/** Pause after an error in milliseconds; it doubles with every failed transaction. */
const RETRY_MS = 15_000
const LONGEST_RETRY_MS = 3_600_000
/** Due time of a payment that is not retried. */
const NEVER = '9999-12-31T23:59:59.999Z'
const REFUSED =
  'The token refused the transfer. Check that its contract is not paused, and that it blocks neither the account nor the recipient.'
const OTHER_AMOUNT =
  'The transaction succeeded, but the token did not move exactly the amount owed. It is not retried, so that nobody is ' +
  'paid twice: check the transaction, and pay what is missing by hand.'

/** A confirmed payment. */
export interface ConfirmedSettlement {
  /** Id of the paid escrow or withdrawal. */
  id: string
  txHash: string
  at: string
}

/** Dependencies of {@link settlementFollowers}. */
interface FollowerDeps {
  chain: SettlementChain
  account: ChainAccount
  outbox: Outbox
  /** Confirmations that a transaction of an HTTP payment needs, its own block included. */
  paymentConfirmations: number
  /** Called in the transaction that marks a payment as confirmed. */
  onConfirmed(trx: Transaction<Schema>, settlement: ConfirmedSettlement): Promise<void>
}

/** Creates the followers that write what becomes of a transaction into its settlement. */
export function settlementFollowers(deps: FollowerDeps): Followers {
  const { chain, account, outbox, paymentConfirmations } = deps
  const { store } = account
  const time = () => account.now().toISOString()
  return {
    // Follows all transactions, because nothing else watches an account that pays settlements.
    follows: () => true,
    // Confirmations by sender: a payment that ended earlier would not be resent after a reorganisation.
    depthOf: ({ purpose }) =>
      purpose.startsWith(SETTLEMENT) ? chain.network.confirmations : Math.max(PAYMENT_TENDED, paymentConfirmations),
    async onBlock(trx, sent, receipt) {
      const changes = {
        block_number: receipt && Number(receipt.blockNumber),
        ...(receipt && { tx_hash: receipt.transactionHash, error: null }),
      }
      await whenSettlement(sent, (id) =>
        outbox.advance(trx, id, ['submitted'], { status: 'submitted', ...changes, updated_at: time() }),
      )
    },
    onFinal: (trx, sent, receipt) => whenSettlement(sent, (id) => finish(deps, trx, id, sent, receipt)),
    onLost: (trx, sent) =>
      whenSettlement(sent, (id) =>
        outbox.advance(trx, id, ['submitted'], {
          status: 'pending',
          ...{ nonce: null, tx_hash: null, block_number: null, next_at: time(), updated_at: time() },
          error: `The nonce ${sent.nonce} of the account ${sent.address} was used by a transaction signed elsewhere. Use the account for Gazeway alone.`,
        }),
      ),
    onReplaced: (sent) =>
      whenSettlement(sent, (id) =>
        store.write(async (trx) => {
          const row = await outbox.find(trx, id)
          if (row?.nonce !== sent.nonce) return
          const [tx_hash, attempts] = [sent.hashes.at(-1) ?? null, row.attempts + 1]
          await outbox.advance(trx, id, ['submitted'], {
            status: 'submitted',
            tx_hash,
            attempts,
            updated_at: time(),
          })
        }),
      ),
    onFault: (sent, fault) => whenSettlement(sent, (id) => outbox.noteFault(id, fault, time())),
  }
}

async function finish(
  { account, outbox, onConfirmed }: FollowerDeps,
  trx: Transaction<Schema>,
  id: string,
  { address: from, to_address: token, data: call }: SentTransaction,
  receipt: TransactionReceipt,
): Promise<void> {
  const row = await outbox.find(trx, id)
  if (row?.status !== 'submitted') return
  const { transactionHash: tx_hash, status } = receipt
  const mined = { tx_hash, block_number: Number(receipt.blockNumber), updated_at: account.now().toISOString() }
  if (status === 'success' && hasTransfer(receipt, { token, from, call })) {
    await outbox.advance(trx, id, ['submitted'], { status: 'confirmed', ...mined, error: null })
    await onConfirmed(trx, { id, txHash: tx_hash, at: mined.updated_at })
    return
  }
  // A confirmed failure has paid nothing, so a retry with a new nonce cannot pay twice. After a success with another
  // amount, only a person can determine what was paid.
  const [error, next_at] =
    status === 'success' ? [OTHER_AMOUNT, NEVER] : [REFUSED, retryAt(account.now(), row.attempts)]
  await outbox.advance(trx, id, ['submitted'], { status: 'failed', ...mined, error, next_at })
}

/** Due time of the next attempt: the pause doubles with each failed one. RFC 3339 UTC. */
export function retryAt(now: Date, attempts: number): string {
  const pause = Math.min(RETRY_MS * 2 ** attempts, LONGEST_RETRY_MS)
  return new Date(now.getTime() + pause).toISOString()
}

/** Runs work for a settlement's transaction; HTTP payments watch their own. */
async function whenSettlement({ purpose }: SentTransaction, work: (id: string) => Promise<unknown>): Promise<void> {
  if (purpose.startsWith(SETTLEMENT)) await work(purpose.slice(SETTLEMENT.length))
}
