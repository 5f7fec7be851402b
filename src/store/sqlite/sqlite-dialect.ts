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
import { connectionOf } from './connection.ts'
import { isBusy, storeError } from './sqlite-errors.ts'
import { columnsOf, createStatements, toParameter, toRow } from './statements.ts'
import { createTurns } from './writing-turns.ts'

/** How long a statement waits for a lock inside SQLite (blocking this process) before it yields and tries again. */
export const BUSY_TIMEOUT_MS = 200
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

/** The connections of a file. */
export interface Connections {
  /** On which everything is written. */
  writing: DatabaseSyncInstance
  /** Opens that on which everything is read that is part of no transaction; null where that is `writing`, too. */
  openReading: (() => DatabaseSyncInstance) | null
  /** Over once the newest statement on `writing` is: it is not while another process keeps the store locked. */
  latestWrite: Promise<void> | null
  /** How long a busy store is waited for, asked when that begins. */
  patienceMs: () => number
}

/**
 * Kysely on `@photostructure/sqlite` (the interface of `node:sqlite`, for Node 20 too). Differs from Kysely's own SQLite
 * driver where several processes share the file: transactions begin IMMEDIATE (a deferred one fails with SQLITE_BUSY when
 * two of them turn to writing), a busy store is waited for without blocking the event loop for long, and statements are
 * prepared once. Reads do not wait for this process's own transactions either: they have a connection beside them.
 *
 * @param connections looked at anew for each statement
 */
export function nodeSqliteDialect(file: string, connections: Connections): Dialect {
  return {
    createAdapter: () => new TransactionalSqliteAdapter(),
    createDriver: () => createDriver(file, connections),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new TurnTakingQueryCompiler(),
  }
}

function createDriver(file: string, connections: Connections): Driver {
  const { writing } = connections
  const turns = createTurns()
  const write = createExecutor(writing)
  let reading: DatabaseSyncInstance | undefined
  let read: Executor | undefined
  function reader(): Executor | null {
    if (connections.openReading === null) return null
    reading ??= connections.openReading()
    read ??= createExecutor(reading)
    return read
  }
  const session = (connection: DatabaseConnection) => connection as Session
  const run = async (connection: DatabaseConnection, command: string) =>
    void (await session(connection).executeQuery(CompiledQuery.raw(command)))
  return {
    init: async () => void writing.exec(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`),
    acquireConnection: async () => createSession(file, { connections, turns, write, reader }),
    beginTransaction: (connection, { accessMode }) =>
      run(connection, accessMode === 'read only' ? 'begin' : 'begin immediate'),
    commitTransaction: (connection) => run(connection, 'commit'),
    rollbackTransaction: async (connection) => {
      // SQLite has already rolled back by itself after a full disk or an I/O error.
      if (writing.isOpen && writing.isTransaction) await run(connection, 'rollback')
    },
    releaseConnection: async (connection) => session(connection).release(),
    destroy: async () => {
      try {
        reading?.close()
        letGo(writing, file)
      } finally {
        writing.close()
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

type Executor = <R>(query: CompiledQuery) => QueryResult<R>

function createExecutor(database: DatabaseSyncInstance): Executor {
  const prepare = createStatements(database)
  return <R>({ sql, parameters }: CompiledQuery) => {
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
}

/** What is run for one who has asked for a connection, until it is released. */
interface Session extends DatabaseConnection {
  release(): void
}

/** Reads on the connection for that, until the first statement that does more: from there on it has the writing one. */
function createSession(
  file: string,
  deps: {
    connections: Connections
    turns: ReturnType<typeof createTurns>
    write: Executor
    reader: () => Executor | null
  },
): Session {
  const { connections, turns, write, reader } = deps
  /** When it was asked for, until the first statement. */
  let asked: number | undefined = performance.now()
  let isWriting = false

  async function execute<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const read = isWriting || !onlyReads(query) ? null : reader()
    if (read === null && !isWriting) {
      await turns.take()
      isWriting = true
    }
    const run = read ?? write
    const since = asked
    asked = undefined
    const done = untilFree(file, () => run<R>(query), { since, patienceMs: connections.patienceMs() })
    if (read === null) connections.latestWrite = done.then(nothing, nothing)
    return done
  }

  return {
    ...connectionOf(execute),
    release() {
      if (isWriting) turns.giveBack()
    },
  }
}

const nothing = () => {}

/** Whether a statement changes nothing: it then needs no turn. One that is not known for certain does. */
const onlyReads = ({ sql }: CompiledQuery): boolean => /^\s*select\b/i.test(sql)

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
