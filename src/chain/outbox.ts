import { sql, type Transaction } from 'kysely'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { SettlementRow } from '../store/tables/settlements.ts'
import type { SettlementStatus } from './settlements.ts'

/** Payments that are signed in one round. */
const MOST_DUE = 50

/** The payments on one chain, as the worker moves them on. */
export interface Outbox {
  /** Those that a transaction is to be signed for, oldest first. */
  due(at: string): Promise<SettlementRow[]>
  find(trx: Transaction<Schema>, escrowId: string): Promise<SettlementRow | undefined>
  /**
   * Changes one that is at `from`.
   *
   * @returns false when it is not, because another process was faster
   */
  advance(
    trx: Transaction<Schema>,
    escrowId: string,
    from: readonly SettlementStatus[],
    changes: Partial<Omit<SettlementRow, 'escrow_id'>> & { status: SettlementStatus; updated_at: string },
  ): Promise<boolean>
  /** Notes what is in the way of one that is not confirmed, where that is news. */
  noteFault(escrowId: string, error: string, at: string, nextAt?: string): Promise<void>
}

/** The payments in `store` on the chain with this id. */
export function createOutbox({ db }: Store, chainId: number): Outbox {
  return {
    due: (at) =>
      db
        .selectFrom('settlements')
        .selectAll()
        // As literals, so that the partial index is used.
        .where(sql<boolean>`status in ('pending', 'failed')`)
        .where('chain_id', '=', chainId)
        .where('next_at', '<=', at)
        .orderBy('next_at')
        .limit(MOST_DUE)
        .execute(),

    find: (trx, escrowId) =>
      trx.selectFrom('settlements').selectAll().where('escrow_id', '=', escrowId).forUpdate().executeTakeFirst(),

    async advance(trx, escrowId, from, changes) {
      const { numUpdatedRows } = await trx
        .updateTable('settlements')
        .set(changes)
        .where('escrow_id', '=', escrowId)
        .where('status', 'in', from)
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },

    async noteFault(escrowId, error, at, nextAt) {
      await db
        .updateTable('settlements')
        .set({ error, updated_at: at, ...(nextAt !== undefined && { next_at: nextAt }) })
        .where('escrow_id', '=', escrowId)
        .where('status', '<>', 'confirmed')
        .where(({ eb, or }) =>
          or([
            eb('error', 'is', null),
            eb('error', '<>', error),
            ...(nextAt === undefined ? [] : [eb('next_at', '<', nextAt)]),
          ]),
        )
        .execute()
    },
  }
}
