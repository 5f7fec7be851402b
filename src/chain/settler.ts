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
/** Blocks that hold a transaction of a payment before it is looked after no more, however soon payments count. */
const PAYMENT_TENDED = 2
/** The pause after something went wrong, in milliseconds; it doubles with every transaction that failed. */
const RETRY_MS = 15_000
const LONGEST_RETRY_MS = 3_600_000
/** When a payment is due that is not to be tried again by itself. */
const NEVER = '9999-12-31T23:59:59.999Z'
/** Rounds for which one process looks after an account before another may. */
const TURN_ROUNDS = 5
/** How often bytes are sent again, in rounds. */
const RESEND_ROUNDS = 5

const REFUSED = 'The token refused the transfer.'
const OTHER_AMOUNT =
  'The transaction succeeded, but the token did not move exactly what is owed. It is not tried again, so that nobody is ' +
  'paid twice: look at the transaction, and pay by hand what is missing.'

/** A payment that the chain has taken for good. */
export interface ConfirmedSettlement {
  /** Of the escrow or the withdrawal that is paid. */
  id: string
  txHash: string
  at: string
}

/** What pays settlements. */
export interface SettlerDeps {
  chain: SettlementChain
  account: ChainAccount
  /** Blocks that hold a transaction that a payment has sent, its own included, before that counts. */
  paymentConfirmations: number
  /** Part of the transaction that notes a payment as confirmed. */
  onConfirmed(trx: Transaction<Schema>, settlement: ConfirmedSettlement): Promise<void>
}

/** Pays settlements round by round. */
export interface Settler {
  /**
   * Signs what is due and looks after what was sent.
   *
   * @param stopping whether to leave the rest to the next process
   * @returns whether anything is left to look after
   */
  round(stopping?: () => boolean): Promise<boolean>
  /** Whether a payment is due. */
  anyDue(): Promise<boolean>
}

/** Pays the settlements of one chain from one account. */
export function createSettler(deps: SettlerDeps): Settler {
  const { chain, account, paymentConfirmations, onConfirmed } = deps
  const { store, now, node } = account
  const outbox = createOutbox(store, chain.network.chainId)
  const tender = randomUUID()
  const turnMs = TURN_ROUNDS * chain.pollMs
  let turnUntil = 0
  /** Whether the token is known to count as configured. */
  let counts = false

  const followers: Followers = {
    // All: where settlements are paid from an account, nobody else ends what it sent.
    follows: () => true,
    // Each as deep as whoever sent it asks for: a payment that is ended before that would not be sent again.
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
          error: `The number ${sent.nonce} of the account ${sent.address} went to a transaction that was signed elsewhere.`,
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
  /** Of accounts that paid before this one, by address. */
  const earlier = new Map<string, () => Promise<void>>()

  /** What another account has sent is followed without its key, and paid from this one only if it cannot be taken any more. */
  async function tendEarlier(addresses: readonly string[]): Promise<void> {
    for (const one of addresses) {
      const tendOne = earlier.get(one) ?? tending(openAccount({ ...account, signer: watchOnly(one) }))
      earlier.set(one, tendOne)
      await tendOne()
    }
  }

  const time = () => now().toISOString()

  /** Whether this process is the one that looks after the account; asked of the store once in half a turn. */
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

  /** In another token. At an address where there is none, which has been corrected since, nothing can be owed. */
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
        // The node itself is what fails: the others would fare no better.
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
    // One that failed, in a block for good, has paid nothing: a new number cannot pay twice. Of one that succeeded only a
    // person can say what it paid.
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

/** Does something for a settlement's transaction; others of the account follow themselves. */
async function whenSettlement({ purpose }: SentTransaction, work: (id: string) => Promise<unknown>): Promise<void> {
  if (purpose.startsWith(PURPOSE)) await work(purpose.slice(PURPOSE.length))
}

function otherToken(token: string): GazewayError {
  return new GazewayError(
    'config_invalid',
    `It was released while payments were made in ${token}; chain.settlement.token is another one now. Set it back.`,
  )
}
