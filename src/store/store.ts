import type { Kysely, Transaction } from 'kysely'
import type { Engine } from './engine.ts'
import type { Schema } from './schema.ts'

/**
 * The store of all records. Services use `db` for reads and single statements, and `write` for anything that reads
 * before it writes, or writes more than once.
 */
export interface Store {
  engine: Engine
  db: Kysely<Schema>
  /**
   * Connection for reads that may take long. On SQLite a thread of its own, so that this one is not blocked; on
   * PostgreSQL the same as `db`. Sees everything written before.
   */
  reads: Kysely<Schema>
  /**
   * Runs `work` in one write transaction: durable as a whole when the promise resolves, undone when it rejects.
   *
   * `work` may run again after a conflict or a lost connection, so it must not touch anything outside the transaction.
   * Rows read in order to change them need `forUpdate()`: writers overlap on PostgreSQL. SQLite, where they take turns,
   * ignores it.
   *
   * @throws GazewayError `store_unavailable` when another process locks the store, `store_full` when the disk is full
   */
  write<T>(work: (trx: Transaction<Schema>) => Promise<T>): Promise<T>
  /** Runs `work`, which only reads, on one consistent state of the store, like `reads`. */
  snapshot<T>(work: (trx: Transaction<Schema>) => Promise<T>): Promise<T>
  /**
   * Tells whether the store answers within 2 s. False when its file is missing or read-only, or its PostgreSQL is
   * read-only.
   */
  check(): Promise<boolean>
  close(): Promise<void>
}
