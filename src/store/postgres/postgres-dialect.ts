import { setTimeout as delay } from 'node:timers/promises'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import type pg from 'pg'
import { preparedName } from '../built.ts'
import { partsOf } from '../joined-statements.ts'
import { withoutNul } from '../text.ts'
import { isConnectionLoss, isStale, storeError, unknownOutcome } from './postgres-errors.ts'
import type { ConnectionPool } from './postgres-pool.ts'

/** Maximum number of connections on which a read is tried. */
const READS = 5
/** Time that the server gets to notice the lost connection of a transaction. */
const OUTCOME_PATIENCE_MS = 10_000
const OUTCOME_PAUSE_MS = 100

/** A connection in use. */
interface Session extends DatabaseConnection {
  begin(settings: TransactionSettings): Promise<void>
  commit(): Promise<void>
  rollback(): Promise<void>
  release(): void
}

/**
 * Kysely dialect for `pg`, with its own handling of connection loss:
 * - Connecting is retried.
 * - An interrupted read runs again on another connection.
 * - After a loss during a commit, the server is asked for the outcome of the transaction, so that the reported result
 *   is always true.
 */
export function postgresDialect(pool: ConnectionPool): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => createDriver(pool),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
}

function createDriver(pool: ConnectionPool): Driver {
  const session = (connection: DatabaseConnection) => connection as Session
  return {
    init: async () => {},
    acquireConnection: async () => createSession(pool, await pool.connect()),
    beginTransaction: (connection, settings) => session(connection).begin(settings),
    commitTransaction: (connection) => session(connection).commit(),
    rollbackTransaction: (connection) => session(connection).rollback(),
    releaseConnection: async (connection) => session(connection).release(),
    destroy: () => pool.end(),
  }
}

function createSession(pool: ConnectionPool, first: pg.PoolClient): Session {
  let client = first
  let lost: Error | undefined
  let used = false
  /** Command that begins a transaction and is not sent yet. */
  let opening: string | undefined
  let transaction: string | undefined
  const noteLoss = (error: Error) => {
    lost = error
  }
  client.on('error', noteLoss)

  async function send(query: string, parameters: unknown[] = []): Promise<pg.QueryResult> {
    try {
      const name = preparedName(query)
      return await client.query(
        name === null ? { text: query, values: parameters } : { name, text: query, values: parameters },
      )
    } catch (error) {
      if (isConnectionLoss(error) || isStale(error)) lost = error as Error
      throw error
    }
  }

  /**
   * Sends statements in one packet. If all of them only read, the same packet begins the transaction. Otherwise that
   * command is sent first, so that nothing is changed when it fails.
   */
  async function sendTogether(queries: readonly CompiledQuery[]): Promise<pg.QueryResult[]> {
    const { stream } = client.connection
    const begin = opening
    opening = undefined
    const isApart = begin !== undefined && !queries.every(isRead)
    if (isApart) await open(begin)
    stream.cork()
    const begun = begin === undefined || isApart ? null : open(begin)
    const sent = queries.map((query) => send(query.sql, query.parameters.map(withoutNul)))
    stream.uncork()
    const [results] = await Promise.all([Promise.all(sent), begun])
    return results
  }

  async function open(command: string): Promise<void> {
    if (command.endsWith('read only')) return void (await send(command))
    // One round trip. The id is needed later to query the outcome.
    const [, named] = (await send(`${command}; select pg_current_xact_id()::text as id`)) as unknown as [
      pg.QueryResult,
      pg.QueryResult<{ id: string }>,
    ]
    transaction = named.rows[0]?.id
  }

  /** Returns true when a transaction ends without any statement. */
  function wasNeverOpened(): boolean {
    const never = opening !== undefined
    opening = undefined
    return never
  }

  async function reconnect(): Promise<void> {
    release()
    client = await pool.connect()
    lost = undefined
    client.on('error', noteLoss)
  }

  function release(): void {
    client.off('error', noteLoss)
    client.release(lost)
  }

  /** Executes a query. Only the first one of a session is retried: later ones may depend on earlier ones. */
  async function execute(query: CompiledQuery): Promise<pg.QueryResult> {
    const repeatable = !used && opening === undefined && transaction === undefined && isRead(query)
    used = true
    for (let attempt = 1; ; attempt++) {
      try {
        const [result] = await sendTogether([query])
        return result as pg.QueryResult
      } catch (error) {
        if (!repeatable || !lost || attempt === READS) throw error
        await reconnect()
      }
    }
  }

  /**
   * Determines the outcome of a lost commit.
   *
   * @throws the loss itself when the transaction has certainly changed nothing
   */
  async function resolveCommit(loss: unknown): Promise<void> {
    const id = transaction
    if (id === undefined) throw loss
    const deadline = Date.now() + OUTCOME_PATIENCE_MS
    while (Date.now() < deadline) {
      await reconnect()
      try {
        const { rows } = await send('select pg_xact_status($1::text::xid8) as outcome', [id])
        const { outcome } = rows[0] as { outcome: string | null }
        if (outcome === 'committed') return
        if (outcome === 'aborted') throw loss
        if (outcome === null) break
      } catch (error) {
        if (error === loss || !lost) throw error
      }
      await delay(OUTCOME_PAUSE_MS)
    }
    throw unknownOutcome(pool.name)
  }

  return {
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      try {
        const parts = partsOf(query)
        if (parts === null) return resultOf(await execute(query))
        used = true
        return { rows: (await sendTogether(parts)).map(resultOf) as R[] }
      } catch (error) {
        throw storeError(error, pool.name)
      }
    },
    // biome-ignore lint/correctness/useYield: Kysely asks for a generator; no service streams rows.
    async *streamQuery(): AsyncIterableIterator<never> {
      throw new Error('Rows are read in pages, not streamed.')
    },
    async begin({ isolationLevel, accessMode }) {
      opening = ['begin', isolationLevel && `isolation level ${isolationLevel}`, accessMode].filter(Boolean).join(' ')
    },
    async commit() {
      if (wasNeverOpened()) return
      try {
        await send('commit').catch((error) => (lost ? resolveCommit(error) : Promise.reject(error)))
      } catch (error) {
        throw storeError(error, pool.name)
      } finally {
        transaction = undefined
      }
    },
    async rollback() {
      transaction = undefined
      if (wasNeverOpened()) return
      // A lost connection has rolled back. A connection that cannot roll back must not be used again.
      if (!lost) await send('rollback').catch(noteLoss)
    },
    release,
  }
}

function resultOf<R>({ command, rowCount, rows }: pg.QueryResult): QueryResult<R> {
  return command === 'SELECT' ? { rows } : { rows, numAffectedRows: BigInt(rowCount ?? 0) }
}

/** Tells whether running the query twice equals running it once. */
function isRead({ query, sql }: CompiledQuery): boolean {
  if (query.kind === 'SelectQueryNode') return true
  return query.kind === 'RawNode' && /^\s*select\b/i.test(sql)
}
