import type { Kysely, Transaction } from 'kysely'
import type { Engine } from './columns.ts'
import type { Schema } from './schema.ts'

/**
 * Where all records live. Services use `db` for reads and single statements, and `write` for everything that reads
 * before it writes or writes more than once.
 */
export interface Store {
  engine: Engine
  db: Kysely<Schema>
  /**
   * Runs `work` in one write transaction: all of it is durable when the promise resolves, none of it when it rejects.
   * `work` may run again after a conflict with another process, so it must touch nothing outside the transaction.
   *
   * @throws GazewayError `store_unavailable` when another process keeps the store locked, `store_full` when the disk is full
   */
  write<T>(work: (trx: Transaction<Schema>) => Promise<T>): Promise<T>
  /** Whether the store answers just now. */
  check(): Promise<boolean>
  close(): Promise<void>
}
