import { randomUUID } from 'node:crypto'
import type { Transaction } from 'kysely'
import { BaseError } from 'viem'
import { GazewayError } from '../errors.ts'
import type { Schema } from '../store/schema.ts'
import type { SettlementRow } from '../store/tables/settlements-tables.ts'
import { type ChainAccount, openAccount } from './account.ts'
import { createOutbox, type Outbox } from './chain-outbox.ts'
import { type ConfirmedSettlement, retryAt, SETTLEMENT, settlementFollowers } from './settlement-followers.ts'
import type { SettlementChain } from './settlement-settings.ts'
import { watchOnly } from './signer.ts'
import { hasContract, requireDecimals, tokensSetting } from './token-contract.ts'
import { tokenUnits, transferCall } from './token-transfer.ts'
import { createTending } from './watch-transactions.ts'

/** Rounds during which one process keeps its turn on an account. */
const TURN_ROUNDS = 5
/** Number of polling rounds after which a pending transaction is resent. */
const RESEND_ROUNDS = 5

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
  const { store, now } = account
  const outbox = createOutbox(store, chain.network.chainId)
  const submitDue = createSubmitting({ chain, account, outbox })
  const tender = randomUUID()
  const turnMs = TURN_ROUNDS * chain.pollMs
  let turnUntil = 0
  const followers = settlementFollowers({ chain, account, outbox, paymentConfirmations, onConfirmed })
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

/**
 * Creates the function that signs the payments that are due.
 *
 * @returns a function that stops where `stopping` returns true
 */
function createSubmitting({ chain, account, outbox }: Pick<SettlerDeps, 'chain' | 'account'> & { outbox: Outbox }) {
  const { now, node } = account
  /** True once the token has passed its check. */
  let counts = false
  const time = () => now().toISOString()

  async function submit(row: SettlementRow): Promise<void> {
    const units = tokenUnits(row.micros, chain.token.decimals)
    await account.send({
      purpose: SETTLEMENT + row.id,
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

  return async (stopping: () => boolean): Promise<void> => {
    for (const row of await outbox.due(time())) {
      if (stopping()) return
      try {
        if (await isOwedElsewhere(row)) throw otherToken(row.token)
        if (!counts) await requireDecimals(node, chain.token, tokensSetting(chain.network))
        counts = true
        await submit(row)
      } catch (error) {
        if (!(error instanceof BaseError || error instanceof GazewayError)) throw error
        await outbox.postpone(row, node.faultOf(error), time(), retryAt(now(), row.attempts))
        // The node itself fails, so the other payments would fail too.
        await node.verify()
      }
    }
  }
}

function otherToken(token: string): GazewayError {
  return new GazewayError(
    'config_invalid',
    `It is owed in ${token}, but chain.settlement.token has changed since. Set it back.`,
  )
}
