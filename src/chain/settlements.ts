import type { Transaction } from 'kysely'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { Micros } from '../text/money.ts'
import { requireAddress } from './recipient.ts'

/** Where an escrow's payment stands on the chain; `none` where it is not paid on one. */
export type SettlementStatus = 'none' | 'pending' | 'submitted' | 'confirmed' | 'failed'

/** How far the payment of one escrow, or of one withdrawal, is. */
export interface SettlementState {
  status: SettlementStatus
  tx_hash: string | null
  /** Transactions that were signed for it. */
  attempts: number
  error: string | null
}

/** A payment that is owed. */
export interface NewSettlement {
  /** Of the escrow or the withdrawal that it pays. */
  id: string
  /** An address on the chain; null is refused where payments settle there. */
  recipient: string | null
  micros: Micros
  /** RFC 3339 UTC with milliseconds. */
  at: string
}

/** Where rewards are paid: in the ledger alone, or with a token on a chain. */
export const SETTLEMENT_MODES = ['ledger', 'evm'] as const
export type SettlementMode = (typeof SETTLEMENT_MODES)[number]

/** What released escrows are paid with: the ledger alone, or a token on a chain. */
export interface Settlements {
  mode: SettlementMode
  /**
   * Checks whom an escrow could be paid to.
   *
   * @throws GazewayError `validation_failed` when payments settle on a chain and this is no address there
   */
  requireRecipient(recipient: string | null): void
  /**
   * Notes, in the transaction that releases an escrow, or takes a withdrawal out of the ledger, that it is to be paid on the
   * chain; once for each. With the ledger alone it does nothing.
   *
   * @throws GazewayError as `requireRecipient`
   */
  enqueue(trx: Transaction<Schema>, settlement: NewSettlement): Promise<void>
  /** How far the payments of these escrows and withdrawals are; those that are not paid on a chain are left out. */
  states(ids: readonly string[]): Promise<Map<string, SettlementState>>
}

/** What settlements are made with. */
export interface SettlementsDeps {
  store: Store
  mode: SettlementMode
  /** The chain and the token. @throws GazewayError `config_invalid` when they are not configured whole */
  chain(): { chainId: number; token: string }
  /** Told when a payment was noted, before its transaction is durable. */
  onEnqueued?: () => void
}

/** What is to be paid on a chain, as it is noted in the store. */
export function createSettlements({ store, mode, chain, onEnqueued }: SettlementsDeps): Settlements {
  /** Whatever pays now: what was paid on a chain before stays known. */
  async function states(ids: readonly string[]): Promise<Map<string, SettlementState>> {
    if (ids.length === 0) return new Map()
    const rows = await store.db
      .selectFrom('settlements')
      .select(['id', 'status', 'tx_hash', 'attempts', 'error'])
      .where('id', 'in', ids)
      .execute()
    return new Map(rows.map(({ id, status, ...state }) => [id, { status: status as SettlementStatus, ...state }]))
  }
  if (mode === 'ledger') return { mode, requireRecipient() {}, async enqueue() {}, states }

  return {
    mode,
    states,
    requireRecipient: (recipient) => void requireAddress(recipient),

    async enqueue(trx, { id, recipient, micros, at }) {
      const { chainId: chain_id, token } = chain()
      await trx
        .insertInto('settlements')
        .values({
          id,
          recipient: requireAddress(recipient),
          micros,
          chain_id,
          token,
          status: 'pending',
          nonce: null,
          tx_hash: null,
          block_number: null,
          attempts: 0,
          error: null,
          next_at: at,
          created_at: at,
          updated_at: at,
        })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute()
      onEnqueued?.()
    },
  }
}
