import type { Transaction } from 'kysely'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { Micros } from '../text/money.ts'
import { requireAddress } from './recipient.ts'

/** Status of a payment on the chain; `none` when it is paid in the ledger. */
export type SettlementStatus = 'none' | 'pending' | 'submitted' | 'confirmed' | 'failed'

/** Progress of the payment of an escrow or a withdrawal. */
export interface SettlementState {
  status: SettlementStatus
  tx_hash: string | null
  /** Signed transactions so far. */
  attempts: number
  error: string | null
}

/** A payment to make. */
export interface NewSettlement {
  /** Id of the escrow or withdrawal. */
  id: string
  /** Address on the chain; null is refused when payments settle on a chain. */
  recipient: string | null
  micros: Micros
  /** RFC 3339 UTC with milliseconds. */
  at: string
}

/** Ways to pay rewards: in the ledger, or with a token on a chain. */
export const SETTLEMENT_MODES = ['ledger', 'evm'] as const
export type SettlementMode = (typeof SETTLEMENT_MODES)[number]

/** Payments of released escrows and withdrawals. */
export interface Settlements {
  mode: SettlementMode
  /**
   * Checks the recipient of a future payment.
   *
   * @throws GazewayError `validation_failed` when payments settle on a chain and the recipient has no address there
   */
  requireRecipient(recipient: string | null): void
  /**
   * Queues a payment in the transaction that releases an escrow or takes a withdrawal out of the ledger. Happens once
   * per id. Does nothing when rewards are paid in the ledger.
   *
   * @throws GazewayError as `requireRecipient`
   */
  enqueue(trx: Transaction<Schema>, settlement: NewSettlement): Promise<void>
  /** Reads the progress of payments; ids without a payment on a chain are absent. */
  states(ids: readonly string[]): Promise<Map<string, SettlementState>>
}

/** Dependencies of {@link createSettlements}. */
export interface SettlementsDeps {
  store: Store
  mode: SettlementMode
  /** Chain and token. @throws GazewayError `config_invalid` for incomplete settings */
  chain(): { chainId: number; token: string }
  /** Called when a payment is queued, before its transaction commits. */
  onEnqueued?: () => void
}

/** Creates the queue of payments in the store. */
export function createSettlements({ store, mode, chain, onEnqueued }: SettlementsDeps): Settlements {
  /** Reads payments of all modes, so that earlier payments on a chain stay visible. */
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
