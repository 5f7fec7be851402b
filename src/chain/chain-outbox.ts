import { sql, type Transaction } from 'kysely'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { SettlementRow } from '../store/tables/settlements-tables.ts'
import type { SettlementStatus } from './settlements.ts'

/** Payments signed per round. */
const MAX_DUE = 50
const DUE: readonly SettlementStatus[] = ['pending', 'failed']

/** Settlements on one chain, for the worker that pays them. */
export interface Outbox {
  /** Settlements to sign a transaction for, oldest first. */
  due(at: string): Promise<SettlementRow[]>
  find(trx: Transaction<Schema>, id: string): Promise<SettlementRow | undefined>
  /**
   * Changes a settlement that is at `from`.
   *
   * @returns false when another process changed it before
   */
  advance(
    trx: Transaction<Schema>,
    id: string,
    from: readonly SettlementStatus[],
    changes: SettlementChanges,
  ): Promise<boolean>
  /**
   * Takes a due settlement. Fails when a transaction was signed for it since it was read. So a process that was
   * suspended cannot pay it twice.
   *
   * @returns false on failure
   */
  take(trx: Transaction<Schema>, read: SettlementRow, changes: SettlementChanges): Promise<boolean>
  /**
   * Stores the reason why a due settlement was not paid, and the time of the next attempt. Does nothing when a
   * transaction was signed for it since it was read.
   */
  postpone(read: SettlementRow, error: string, at: string, nextAt: string): Promise<void>
  /** Stores the error of a sent settlement, when it has changed. */
  noteFault(id: string, error: string, at: string): Promise<void>
}

type SettlementChanges = Partial<Omit<SettlementRow, 'id'>> & { status: SettlementStatus; updated_at: string }

/** Opens the settlements in `store` on one chain. */
export function createOutbox({ db }: Store, chainId: number): Outbox {
  return {
    due: (at) =>
      db
        .selectFrom('settlements')
        .selectAll()
        // Literals, so that the partial index is used.
        .where(sql<boolean>`status in ('pending', 'failed')`)
        .where('chain_id', '=', chainId)
        .where('next_at', '<=', at)
        .orderBy('next_at')
        .limit(MAX_DUE)
        .execute(),

    find: (trx, id) => trx.selectFrom('settlements').selectAll().where('id', '=', id).forUpdate().executeTakeFirst(),

    async advance(trx, id, from, changes) {
      const { numUpdatedRows } = await trx
        .updateTable('settlements')
        .set(changes)
        .where('id', '=', id)
        .where('status', 'in', from)
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },

    async take(trx, { id, attempts }, changes) {
      const { numUpdatedRows } = await trx
        .updateTable('settlements')
        .set(changes)
        .where('id', '=', id)
        .where('status', 'in', DUE)
        .where('attempts', '=', attempts)
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },

    async postpone({ id, attempts }, error, at, nextAt) {
      await db
        .updateTable('settlements')
        .set({ error, updated_at: at, next_at: nextAt })
        .where('id', '=', id)
        .where('status', 'in', DUE)
        .where('attempts', '=', attempts)
        .execute()
    },

    async noteFault(id, error, at) {
      await db
        .updateTable('settlements')
        .set({ error, updated_at: at })
        .where('id', '=', id)
        .where('status', '=', 'submitted')
        .where(({ eb, or }) => or([eb('error', 'is', null), eb('error', '<>', error)]))
        .execute()
    },
  }
}
