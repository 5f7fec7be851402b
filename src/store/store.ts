import type { Kysely, Transaction } from 'kysely'
import type { Engine } from './engine.ts'
import type { Schema } from './schema.ts'

/** Use of a pool of connections. */
export interface PoolUse {
  used: number
  idle: number
  /** Requests that wait for a connection. */
  waiting: number
  max: number
}

/**
 * The store of all records. Services use `db` for reads and single statements. They use `write` for work that reads
 * before it writes, or writes more than once.
 */
export interface Store {
  engine: Engine
  db: Kysely<Schema>
  /**
   * Connection for long reads. On SQLite it has its own thread, so that the main thread is not blocked; on PostgreSQL
   * it is `db`. It sees all earlier writes.
   */
  reads: Kysely<Schema>
  /**
   * Connection for small reads: on PostgreSQL, those asked for at the same time share a round trip. On SQLite it is
   * `reads`.
   */
  lookups: Kysely<Schema>
  /**
   * Runs `work` in one write transaction: durable as a whole when the promise resolves, rolled back when it rejects.
   *
   * `work` may run again after a conflict or a lost connection, so it must not touch anything outside the transaction.
   * Rows that are read before they are changed need `forUpdate()`, because writers overlap on PostgreSQL. SQLite
   * ignores it, as its writers take turns.
   *
   * @throws GazewayError `store_unavailable` when another process locks the store, `store_full` when the disk is full
   */
  write<T>(work: (trx: Transaction<Schema>) => Promise<T>): Promise<T>
  /** Runs `work`, which only reads, on one consistent state of the store. Uses the same connection as `reads`. */
  snapshot<T>(work: (trx: Transaction<Schema>) => Promise<T>): Promise<T>
  /**
   * Tells whether the store answers within 2 s. False when its file is missing or read-only, or its PostgreSQL is
   * read-only.
   */
  check(): Promise<boolean>
  /** Counts the connections of a pool. Absent on SQLite. */
  pool?: () => PoolUse
  /**
   * Gives at most `pages` free pages of a SQLite file back to the disk, and keeps a reserve for the next writes.
   *
   * @returns whether more than the reserve is left
   */
  shrink(pages: number): Promise<boolean>
  close(): Promise<void>
}
