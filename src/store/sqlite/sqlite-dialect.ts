import { setTimeout as delay } from 'node:timers/promises'
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
import type { Database } from './driver.ts'
import { connectionOf } from './kysely-connection.ts'
import { isBusy, storeError } from './sqlite-errors.ts'
import { columnsOf, createStatements, toParameter, toRow } from './statements.ts'
import { createTurns } from './writing-turns.ts'

/**
 * Longest wait for a lock inside SQLite, in milliseconds. It blocks this process; then the process yields and retries.
 */
export const BUSY_TIMEOUT_MS = 200
/** Default time after which retries stop. */
export const PATIENCE_MS = 20_000

/**
 * Tells Kysely's migrator that SQLite rolls back schema changes, so that migrations run inside one write transaction.
 */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

/** Omits `for update` and similar clauses: write transactions take turns, so their rows are locked anyway. */
class TurnTakingQueryCompiler extends SqliteQueryCompiler {
  protected override visitSelectModifier(): void {}
}

/** Connections to one file. */
export interface Connections {
  writing: Database
  /** Opens the connection for reads outside of transactions. Null when `writing` serves them too. */
  openReading: (() => Database) | null
  /** Resolves with the newest statement on `writing`. Pending while another process locks the store. */
  latestWrite: Promise<void> | null
  /** Time limit of the wait for a busy store, read when the wait begins. */
  patienceMs: () => number
}

/**
 * Kysely dialect for the interface of `node:sqlite`. Made for several
 * processes on one file:
 * - Transactions begin IMMEDIATE: deferred ones fail with SQLITE_BUSY when two of them start to write.
 * - Waiting for a busy store does not block the event loop for long.
 * - Statements are prepared once.
 * - Reads have their own connection, so they do not wait for this process's transactions.
 *
 * @param connections read again for each statement
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
  let reading: Database | undefined
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
      // SQLite has already rolled back after a full disk or an I/O error.
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
 * Releases the lock of an unfinished transaction, and writes the log into the file, so that a copy of the closed file
 * is complete. SQLite does both when the connection ends. The driver keeps the connection open after `close`, until its
 * statements are garbage collected.
 */
function letGo(database: Database, file: string): void {
  try {
    if (database.isTransaction) database.exec('rollback')
    database.exec('pragma wal_checkpoint(truncate)')
  } catch (error) {
    // On a full or read-only disk everything stays in the log, where the next process finds it.
    if (!(storeError(error, file) instanceof GazewayError)) throw error
  }
}

type Executor = <R>(query: CompiledQuery) => QueryResult<R>

function createExecutor(database: Database): Executor {
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

/** Statements of one connection request, until it is released. */
interface Session extends DatabaseConnection {
  release(): void
}

/** Uses the reading connection until the first statement that writes, and the writing connection from then on. */
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
  /** Time of the request; undefined after the first statement. */
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

/** Tells whether a statement certainly changes nothing and therefore need not wait its turn. */
const onlyReads = ({ sql }: CompiledQuery): boolean => /^\s*select\b/i.test(sql)

/**
 * Runs `work` until the store is not busy: at least once, and for up to 20 s after `since`. Waits for the same lock
 * overlap, rather than adding up.
 *
 * @throws the driver's error, converted when it is about the file
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
