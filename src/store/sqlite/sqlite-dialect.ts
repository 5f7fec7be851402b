import { setTimeout as delay } from 'node:timers/promises'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { GazewayError } from '../../errors.ts'
import { partsOf } from '../together.ts'
import { isBusy, storeError } from './sqlite-errors.ts'
import { columnsOf, createStatements, toParameter, toRow } from './statements.ts'
import { createTurns } from './writing-turns.ts'

/** How long a statement waits for a lock inside SQLite (blocking this process) before it yields and tries again. */
const BUSY_TIMEOUT_MS = 200
/** How long it goes on trying before it gives up, unless told otherwise. */
export const PATIENCE_MS = 20_000

/** Tells Kysely's migrator that SQLite rolls back schema changes, so that migrations run inside one write transaction. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

/** Leaves out `for update` and the like: write transactions take turns, so their rows are locked as they are. */
class TurnTakingQueryCompiler extends SqliteQueryCompiler {
  protected override visitSelectModifier(): void {}
}

/**
 * Kysely on `@photostructure/sqlite` (the interface of `node:sqlite`, for Node 20 too). Differs from Kysely's own SQLite
 * driver where several processes share the file: transactions begin IMMEDIATE (a deferred one fails with SQLITE_BUSY when
 * two of them turn to writing), a busy store is waited for without blocking the event loop for long, and statements are
 * prepared once.
 *
 * @param patienceMs how long a busy store is waited for, asked when that begins
 */
export function nodeSqliteDialect(
  database: DatabaseSyncInstance,
  file: string,
  patienceMs = () => PATIENCE_MS,
): Dialect {
  return {
    createAdapter: () => new TransactionalSqliteAdapter(),
    createDriver: () => createDriver(database, file, patienceMs),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new TurnTakingQueryCompiler(),
  }
}

function createDriver(database: DatabaseSyncInstance, file: string, patienceMs: () => number): Driver {
  /** When whoever has the connection asked for it, until their first statement. */
  let asked: number | undefined
  const connection = createConnection(database, (work) => {
    const since = asked
    asked = undefined
    return untilFree(file, work, { since, patienceMs: patienceMs() })
  })
  const run = async (command: string) => void (await connection.executeQuery(CompiledQuery.raw(command)))
  const turns = createTurns()
  return {
    init: async () => void database.exec(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`),
    acquireConnection: async () => {
      const now = performance.now()
      await turns.take()
      asked = now
      return connection
    },
    beginTransaction: (_connection, { accessMode }) => run(accessMode === 'read only' ? 'begin' : 'begin immediate'),
    commitTransaction: () => run('commit'),
    rollbackTransaction: async () => {
      // SQLite has already rolled back by itself after a full disk or an I/O error.
      if (database.isOpen && database.isTransaction) await run('rollback')
    },
    releaseConnection: async () => turns.giveBack(),
    destroy: async () => {
      try {
        letGo(database, file)
      } finally {
        database.close()
      }
    },
  }
}

/**
 * Gives up the lock of a transaction that never ended, and writes the log into the file itself, so that whoever copies a
 * file that is closed has all of it. SQLite would do both when the connection ends, but the driver's outlives its `close`
 * until its statements are collected.
 */
function letGo(database: DatabaseSyncInstance, file: string): void {
  try {
    if (database.isTransaction) database.exec('rollback')
    database.exec('pragma wal_checkpoint(truncate)')
  } catch (error) {
    // On a full or read-only disk everything stays in the log, where the next process finds it.
    if (!(storeError(error, file) instanceof GazewayError)) throw error
  }
}

function createConnection(
  database: DatabaseSyncInstance,
  whenFree: <R>(work: () => R) => Promise<R>,
): DatabaseConnection {
  const prepare = createStatements(database)

  function execute<R>({ sql, parameters }: CompiledQuery): QueryResult<R> {
    const prepared = prepare(sql)
    const { statement } = prepared
    const values = parameters.map(toParameter)
    if (prepared.columns.length > 0) {
      const found: unknown[][] = statement.all(...values)
      if (prepared.takesAll) prepared.columns = columnsOf(statement)
      return { rows: found.map((row) => toRow<R>(prepared.columns, row)) }
    }
    return { rows: [], numAffectedRows: BigInt(statement.run(...values).changes) }
  }

  return {
    async executeQuery<R>(query: CompiledQuery) {
      const parts = partsOf(query)
      if (parts === null) return whenFree(() => execute<R>(query))
      const results: QueryResult<unknown>[] = []
      for (const part of parts) results.push(await whenFree(() => execute(part)))
      return { rows: results as R[] }
    },
    // biome-ignore lint/correctness/useYield: Kysely asks for a generator; no service streams rows.
    async *streamQuery(): AsyncIterableIterator<never> {
      throw new Error('Rows are read in pages, not streamed.')
    },
  }
}

/**
 * Tries `work` until the store is not busy, once at least and until some time after `since`, 20 s: those that wait for one
 * lock in a row do not wait one after the other.
 *
 * @throws the driver's error, in words where it is the file's
 */
export async function untilFree<R>(
  file: string,
  work: () => R | Promise<R>,
  { since = performance.now(), patienceMs = PATIENCE_MS }: { since?: number | undefined; patienceMs?: number } = {},
): Promise<R> {
  const deadline = since + patienceMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw storeError(error, file)
      await delay(5 + Math.random() * 20)
    }
  }
}
