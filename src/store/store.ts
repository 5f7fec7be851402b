import type { Kysely, Transaction } from 'kysely'
import type { Engine } from './engine.ts'
import type { Schema } from './schema.ts'

/**
 * Where all records live. Services use `db` for reads and single statements, and `write` for everything that reads
 * before it writes or writes more than once.
 */
export interface Store {
  engine: Engine
  db: Kysely<Schema>
  /**
   * For reads that may take long: on SQLite, where `db` would keep this thread busy meanwhile, a thread of its own; on
   * PostgreSQL the same as `db`. It sees all that was written before.
   */
  reads: Kysely<Schema>
  /**
   * Runs `work` in one write transaction: all of it is durable when the promise resolves, none of it when it rejects.
   * `work` may run again after a conflict or a lost connection, so it must touch nothing outside the transaction.
   * Rows that it reads in order to change them are read `forUpdate()`: writers overlap on PostgreSQL (SQLite, where they
   * take turns, ignores it).
   *
   * @throws GazewayError `store_unavailable` when another process keeps the store locked, `store_full` when the disk is full
   */
  write<T>(work: (trx: Transaction<Schema>) => Promise<T>): Promise<T>
  /** Runs `work`, which only reads, on one consistent state of the store, as `reads` does. */
  snapshot<T>(work: (trx: Transaction<Schema>) => Promise<T>): Promise<T>
  /**
   * Whether the store answers just now, within 2 s; not where its file is gone or takes no writes, or its PostgreSQL is
   * read-only.
   */
  check(): Promise<boolean>
  close(): Promise<void>
}
