import { randomUUID } from 'node:crypto'
import type { Transaction } from 'kysely'
import { BaseError, type TransactionReceipt } from 'viem'
import { GazewayError } from '../errors.ts'
import type { Schema } from '../store/schema.ts'
import type { SettlementRow } from '../store/tables/settlements-tables.ts'
import { type ChainAccount, openAccount } from './account.ts'
import { createOutbox } from './chain-outbox.ts'
import type { SettlementChain } from './settlement-settings.ts'
import { watchOnly } from './signer.ts'
import { createTending, type Followers } from './tend.ts'
import { hasContract, requireDecimals, tokensSetting } from './token-contract.ts'
import { hasTransfer, tokenUnits, transferCall } from './token-transfer.ts'
import type { SentTransaction } from './transactions.ts'

const PURPOSE = 'settlement:'
/** Fewest confirmations after which the transaction of an HTTP payment is no longer watched. */
const PAYMENT_TENDED = 2
/** Pause after an error in milliseconds; it doubles with every failed transaction. */
const RETRY_MS = 15_000
const LONGEST_RETRY_MS = 3_600_000
/** Due time of a payment that is not retried. */
const NEVER = '9999-12-31T23:59:59.999Z'
/** Rounds during which one process keeps its turn on an account. */
const TURN_ROUNDS = 5
/** Number of polling rounds after which a pending transaction is resent. */
const RESEND_ROUNDS = 5

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

/** Dependencies of {@link createSettler}. */
export interface SettlerDeps {
  chain: SettlementChain
  account: ChainAccount
  /** Confirmations that a transaction of an HTTP payment needs, its own block included. */
  paymentConfirmations: number
  /** Called in the transaction that marks a payment as confirmed. */
  onConfirmed(trx: Transaction<Schema>, settlement: ConfirmedSettlement): Promise<void>
}

/** Pays settlements round by round. */
export interface Settler {
  /**
   * Signs due payments and watches sent transactions.
   *
   * @param stopping returns true to leave the rest to the next process
   * @returns whether anything is left to watch
   */
  round(stopping?: () => boolean): Promise<boolean>
  /** Tells whether a payment is due. */
  anyDue(): Promise<boolean>
}

/** Creates the settler of one chain and account. */
export function createSettler(deps: SettlerDeps): Settler {
  const { chain, account, paymentConfirmations, onConfirmed } = deps
  const { store, now, node } = account
  const outbox = createOutbox(store, chain.network.chainId)
  const tender = randomUUID()
  const turnMs = TURN_ROUNDS * chain.pollMs
  let turnUntil = 0
  /** True once the token has passed its check. */
  let counts = false

  const followers: Followers = {
    // Follows all transactions, because nothing else watches an account that pays settlements.
    follows: () => true,
    // Confirmations by sender: a payment that ended earlier would not be resent after a reorganisation.
    depthOf: ({ purpose }) =>
      purpose.startsWith(PURPOSE) ? chain.network.confirmations : Math.max(PAYMENT_TENDED, paymentConfirmations),
    async onBlock(trx, sent, receipt) {
      const changes = {
        block_number: receipt && Number(receipt.blockNumber),
        ...(receipt && { tx_hash: receipt.transactionHash, error: null }),
      }
      await whenSettlement(sent, (id) =>
        outbox.advance(trx, id, ['submitted'], { status: 'submitted', ...changes, updated_at: time() }),
      )
    },
    onFinal: (trx, sent, receipt) => whenSettlement(sent, (id) => finish(trx, id, sent, receipt)),
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
  const tending = (of: ChainAccount) =>
    createTending({
      ...{ account: of, followers, confirmations: chain.network.confirmations },
      ...{ stuckMs: chain.stuckMs, resendMs: RESEND_ROUNDS * chain.pollMs },
    })
  const tend = tending(account)
  /** Accounts that paid before the current one, by address. */
  const earlier = new Map<string, () => Promise<void>>()

  /**
   * Watches transactions of earlier accounts without their keys. Their payments move to this account only once they can
   * no longer be mined.
   */
  async function tendEarlier(addresses: readonly string[]): Promise<void> {
    for (const one of addresses) {
      const tendOne = earlier.get(one) ?? tending(openAccount({ ...account, signer: watchOnly(one) }))
      earlier.set(one, tendOne)
      await tendOne()
    }
  }

  const time = () => now().toISOString()

  /** Tells whether this process has the turn on the account. Asks the store once per half turn. */
  async function takeTurn(): Promise<boolean> {
    const at = now()
    if (turnUntil - at.getTime() > turnMs / 2) return true
    const until = new Date(at.getTime() + turnMs)
    const mine = await account.transactions.tend(tender, at, until)
    turnUntil = mine ? until.getTime() : 0
    return mine
  }

  async function submit(row: SettlementRow): Promise<void> {
    const units = tokenUnits(row.micros, chain.token.decimals)
    await account.send({
      purpose: PURPOSE + row.id,
      to: chain.token.address,
      data: transferCall(row.recipient, units),
      claim: (trx, { nonce, hashes }) =>
        outbox.take(trx, row, {
          status: 'submitted',
          ...{ token: chain.token.address, nonce, tx_hash: hashes.at(-1) ?? null, block_number: null },
          ...{ attempts: row.attempts + 1, error: null, updated_at: time() },
        }),
    })
  }

  /**
   * Tells whether a payment is owed in another existing token. At an address without a contract, nothing can be owed.
   */
  async function isOwedElsewhere({ token }: SettlementRow): Promise<boolean> {
    return token !== chain.token.address && (await hasContract(node, token as `0x${string}`))
  }

  async function submitDue(stopping: () => boolean): Promise<void> {
    for (const row of await outbox.due(time())) {
      if (stopping()) return
      try {
        if (await isOwedElsewhere(row)) throw otherToken(row.token)
        if (!counts) await requireDecimals(node, chain.token, tokensSetting(chain.network))
        counts = true
        await submit(row)
      } catch (error) {
        if (!(error instanceof BaseError || error instanceof GazewayError)) throw error
        await outbox.postpone(row, node.faultOf(error), time(), later(row.attempts))
        // The node itself fails, so the other payments would fail too.
        await node.verify()
      }
    }
  }

  async function finish(
    trx: Transaction<Schema>,
    id: string,
    { address: from, to_address: token, data: call }: SentTransaction,
    receipt: TransactionReceipt,
  ): Promise<void> {
    const row = await outbox.find(trx, id)
    if (row?.status !== 'submitted') return
    const { transactionHash: tx_hash, status } = receipt
    const mined = { tx_hash, block_number: Number(receipt.blockNumber), updated_at: time() }
    if (status === 'success' && hasTransfer(receipt, { token, from, call })) {
      await outbox.advance(trx, id, ['submitted'], { status: 'confirmed', ...mined, error: null })
      await onConfirmed(trx, { id, txHash: tx_hash, at: mined.updated_at })
      return
    }
    // A confirmed failure has paid nothing, so a retry with a new nonce cannot pay twice. After a success with another
    // amount, only a person can determine what was paid.
    const [error, next_at] = status === 'success' ? [OTHER_AMOUNT, NEVER] : [REFUSED, later(row.attempts)]
    await outbox.advance(trx, id, ['submitted'], { status: 'failed', ...mined, error, next_at })
  }

  function later(attempts: number): string {
    const pause = Math.min(RETRY_MS * 2 ** attempts, LONGEST_RETRY_MS)
    return new Date(now().getTime() + pause).toISOString()
  }

  async function anyDue(): Promise<boolean> {
    return (await outbox.due(time())).length > 0
  }

  return {
    anyDue,
    async round(stopping = () => false) {
      const untended = () => account.transactions.untended(time())
      const isBusy = async () =>
        (await account.transactions.anyOpen()) || (await anyDue()) || (await untended()).length > 0
      if (!(await isBusy())) return false
      if (!(await takeTurn())) return true
      await submitDue(stopping)
      if (!stopping()) await tend()
      if (!stopping()) await tendEarlier(await untended())
      return isBusy()
    },
  }
}

/** Runs work for a settlement's transaction; HTTP payments watch their own. */
async function whenSettlement({ purpose }: SentTransaction, work: (id: string) => Promise<unknown>): Promise<void> {
  if (purpose.startsWith(PURPOSE)) await work(purpose.slice(PURPOSE.length))
}

function otherToken(token: string): GazewayError {
  return new GazewayError(
    'config_invalid',
    `It is owed in ${token}, but chain.settlement.token has changed since. Set it back.`,
  )
}
