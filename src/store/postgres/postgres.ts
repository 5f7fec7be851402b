import { setTimeout as delay } from 'node:timers/promises'
import { Kysely } from 'kysely'
import { migrate } from '../migrate.ts'
import type { Schema } from '../schema.ts'
import type { Store } from '../store.ts'
import { postgresDialect } from './postgres-dialect.ts'
import { mayRunAgain, storeError } from './postgres-errors.ts'
import { createPool } from './postgres-pool.ts'
import { sharedRoundTrips } from './shared-round-trips.ts'

/** Time for which a transaction is retried after conflicts or a lost connection. */
const PATIENCE_MS = 10_000
const FIRST_PAUSE_MS = 5
/**
 * Longest pause between retries. Short compared to the time between two connection losses, so that a retry fits in
 * between.
 */
const LONGEST_PAUSE_MS = 200
/** Time limit of the health check. */
const CHECK_TIMEOUT_MS = 2_000

/**
 * Opens and migrates a store on PostgreSQL 14 or later. Any number of processes may share it.
 *
 * @throws GazewayError `store_unavailable`, `store_too_new` or `config_invalid`, naming the server but never the
 *   password
 */
export async function openPostgres(url: string): Promise<Store> {
  const pool = createPool(url)
  const db = new Kysely<Schema>({ dialect: postgresDialect(pool) })
  try {
    await bringUpToDate(url, pool.name)
  } catch (error) {
    await db.destroy()
    throw storeError(error, pool.name)
  }
  return {
    engine: 'postgres',
    db,
    reads: db,
    lookups: sharedRoundTrips(db),
    write: (work) => again(() => db.transaction().execute(work)),
    snapshot: (work) => db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work),
    check: () => pool.usable(CHECK_TIMEOUT_MS),
    pool: pool.use,
    shrink: async () => false,
    close: () => db.destroy(),
  }
}

/**
 * Opens a PostgreSQL database for reading, without migrating it. Also returns its name without credentials.
 *
 * @throws GazewayError `config_invalid`
 */
export function readPostgres(url: string): { db: Kysely<Schema>; name: string } {
  const pool = createPool(url, { size: 2 })
  return { db: new Kysely<Schema>({ dialect: postgresDialect(pool) }), name: pool.name }
}

/** Migrates on separate connections without a statement timeout: a step over a large table takes long. */
async function bringUpToDate(url: string, name: string): Promise<void> {
  const patient = new Kysely<Schema>({ dialect: postgresDialect(createPool(url, { size: 2, statementTimeoutMs: 0 })) })
  try {
    await migrate(patient, 'postgres', name)
  } finally {
    await patient.destroy()
  }
}

/** Runs a transaction until it succeeds: retries after a serialization failure, a deadlock or a lost connection. */
async function again<T>(run: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      return await run()
    } catch (error) {
      if (Date.now() >= deadline || !mayRunAgain(error)) throw error
      await delay(pause * (0.5 + Math.random() / 2))
    }
  }
}
