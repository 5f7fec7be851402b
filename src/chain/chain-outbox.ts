import { sql, type Transaction } from 'kysely'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { SettlementRow } from '../store/tables/settlements-tables.ts'
import type { SettlementStatus } from './settlements.ts'

/** Payments that are signed in one round. */
const MOST_DUE = 50
const DUE: readonly SettlementStatus[] = ['pending', 'failed']

/** The payments on one chain, as the worker moves them on. */
export interface Outbox {
  /** Those that a transaction is to be signed for, oldest first. */
  due(at: string): Promise<SettlementRow[]>
  find(trx: Transaction<Schema>, id: string): Promise<SettlementRow | undefined>
  /**
   * Changes one that is at `from`.
   *
   * @returns false when it is not, because another process was faster
   */
  advance(
    trx: Transaction<Schema>,
    id: string,
    from: readonly SettlementStatus[],
    changes: SettlementChanges,
  ): Promise<boolean>
  /**
   * Takes one that is due to be paid. Not where a transaction was signed for it since it was read: a process that slept may be
   * the last to know that nobody is to pay it again.
   *
   * @returns false then
   */
  take(trx: Transaction<Schema>, read: SettlementRow, changes: SettlementChanges): Promise<boolean>
  /** Notes why one that is due was not paid, and when to try again; not where a transaction was signed since it was read. */
  postpone(read: SettlementRow, error: string, at: string, nextAt: string): Promise<void>
  /** Notes what is in the way of one that was sent, where that is news. */
  noteFault(id: string, error: string, at: string): Promise<void>
}

type SettlementChanges = Partial<Omit<SettlementRow, 'id'>> & { status: SettlementStatus; updated_at: string }

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
