import { setTimeout as delay } from 'node:timers/promises'
import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite'
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
import { withoutNul } from '../text.ts'
import { partsOf } from '../together.ts'
import { isBusy, storeError } from './errors.ts'

/** How long a statement waits for a lock inside SQLite (blocking this process) before it yields and tries again. */
const BUSY_TIMEOUT_MS = 200
/** How long it goes on trying before it gives up, unless told otherwise. */
export const PATIENCE_MS = 20_000
/** The largest number that the driver takes for an integer by itself. */
const MAX_INT32 = 2 ** 31 - 1
/** Prepared statements kept per connection; the services use fewer distinct ones. */
const STATEMENT_LIMIT = 256

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
  // SQLite has one connection here; whoever comes next waits until it is released.
  let tail: Promise<void> = Promise.resolve()
  let release = () => {}
  return {
    init: async () => void database.exec(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`),
    acquireConnection: async () => {
      const now = performance.now()
      const turn = tail
      let done = () => {}
      tail = new Promise((resolve) => {
        done = resolve
      })
      await turn
      release = done
      asked = now
      return connection
    },
    beginTransaction: (_connection, { accessMode }) => run(accessMode === 'read only' ? 'begin' : 'begin immediate'),
    commitTransaction: () => run('commit'),
    rollbackTransaction: async () => {
      // SQLite has already rolled back by itself after a full disk or an I/O error.
      if (database.isOpen && database.isTransaction) await run('rollback')
    },
    releaseConnection: async () => release(),
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
  const statements = new Map<string, Prepared>()

  function prepare(sql: string): Prepared {
    const known = statements.get(sql)
    if (known) return known
    if (statements.size >= STATEMENT_LIMIT) statements.clear()
    const statement = database.prepare(sql)
    // The driver would make objects at twice the time, and without a prototype.
    statement.setReturnArrays(true)
    const prepared = { statement, columns: columnsOf(statement), takesAll: ALL_COLUMNS.test(sql) }
    statements.set(sql, prepared)
    return prepared
  }

  function execute<R>({ sql, parameters }: CompiledQuery): QueryResult<R> {
    const prepared = prepare(sql)
    const { statement } = prepared
    const values = parameters.map(toParameter)
    if (prepared.columns.length > 0) {
      const found: unknown[][] = statement.all(...values)
      // SQLite prepares a statement anew when another process has changed the schema; `*` may then be other columns.
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

/** A statement, and the names of its columns: none where it gives no rows. */
interface Prepared {
  statement: StatementSyncInstance
  columns: string[]
  /** Whether it names its columns by `*`. */
  takesAll: boolean
}

/** `select *`, `returning *`, `table.*`; not `count(*)`. */
const ALL_COLUMNS = /(?<!\()\*/

/**
 * A value as the driver binds it. It ends a text at U+0000, and takes a number beyond 32 bits for one with a fraction
 * unless it is a BigInt.
 */
function toParameter(value: unknown): unknown {
  if (typeof value !== 'number') return withoutNul(value)
  return value > MAX_INT32 || value < -MAX_INT32 ? asInteger(value) : value
}

const asInteger = (value: number): number | bigint => (Number.isSafeInteger(value) ? BigInt(value) : value)

const columnsOf = (statement: StatementSyncInstance): string[] => statement.columns().map(({ name }) => name)

function toRow<R>(columns: string[], values: unknown[]): R {
  const row: Record<string, unknown> = {}
  for (let i = 0; i < columns.length; i++) row[columns[i] as string] = values[i]
  return row as R
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
