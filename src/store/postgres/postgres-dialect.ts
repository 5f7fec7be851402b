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
import { partsOf } from '../joined-statements.ts'
import { preparedName } from '../prepared-sql.ts'
import { withoutNul } from '../storable-text.ts'
import { isCanceled, isConnectionLoss, isStale, storeError, unknownOutcome } from './postgres-errors.ts'
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
  const link = createLink(pool, first)
  const transaction = createTransaction(link.send)
  let used = false

  /**
   * Sends statements in one packet, after the command that begins their transaction. Waits for all of them, also after a
   * failure: the connection is busy until then.
   *
   * @throws the error of the first that fails; that of a canceled one takes precedence
   */
  async function sendTogether(queries: readonly CompiledQuery[]): Promise<pg.QueryResult[]> {
    // If a statement changes something, that command is sent first, so that nothing is changed when it fails.
    if (!queries.every(isRead)) await transaction.open()
    const stream = link.stream()
    stream.cork()
    const begun = transaction.open()
    const sent = queries.map((query) => link.send(query.sql, query.parameters.map(withoutNul)))
    stream.uncork()
    const outcomes = await Promise.allSettled([begun, ...sent])
    const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
    if (errors.length > 0) throw errors.find(isCanceled) ?? errors[0]
    return Promise.all(sent)
  }

  /** Executes queries. Only the first ones of a session are retried: later ones may depend on earlier ones. */
  async function execute(queries: readonly CompiledQuery[]): Promise<pg.QueryResult[]> {
    const repeatable = !used && !transaction.hasBegun() && queries.every(isRead)
    used = true
    for (let attempt = 1; ; attempt++) {
      try {
        return await sendTogether(queries)
      } catch (error) {
        if (!repeatable || !link.isLost() || isCanceled(error) || attempt === READS) throw error
        await link.reconnect()
      }
    }
  }

  return {
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      try {
        const parts = partsOf(query)
        const results = (await execute(parts ?? [query])).map(resultOf<R>)
        return parts === null ? (results[0] as QueryResult<R>) : { rows: results as R[] }
      } catch (error) {
        throw storeError(error, pool.name)
      }
    },
    // biome-ignore lint/correctness/useYield: Kysely asks for a generator; no service streams rows.
    async *streamQuery(): AsyncIterableIterator<never> {
      throw new Error('Rows are read in pages, not streamed.')
    },
    begin: async (settings) => transaction.begin(settings),
    async commit() {
      const { wasOpened, id } = transaction.end()
      if (!wasOpened) return
      try {
        await link.send('commit').catch((error) => {
          if (!link.isLost() || id === undefined) throw error
          return resolveCommit(link, { id, loss: error, store: pool.name })
        })
      } catch (error) {
        throw storeError(error, pool.name)
      }
    },
    async rollback() {
      // A lost connection has rolled back. A connection that cannot roll back must not be used again.
      if (transaction.end().wasOpened && !link.isLost()) await link.send('rollback').catch(link.noteLoss)
    },
    release: link.release,
  }
}

type Link = ReturnType<typeof createLink>

/** A connection of the pool, which another one replaces when it is lost. */
function createLink(pool: ConnectionPool, first: pg.PoolClient) {
  let client = first
  let lost: Error | undefined
  const noteLoss = (error: Error) => {
    lost = error
  }
  client.on('error', noteLoss)

  function release(): void {
    client.off('error', noteLoss)
    client.release(lost)
  }

  return {
    async send(query: string, parameters: unknown[] = []): Promise<pg.QueryResult> {
      try {
        const name = preparedName(query)
        return await client.query(
          name === null ? { text: query, values: parameters } : { name, text: query, values: parameters },
        )
      } catch (error) {
        if (isConnectionLoss(error) || isStale(error)) lost = error as Error
        throw error
      }
    },
    stream: () => client.connection.stream,
    isLost: () => lost !== undefined,
    noteLoss,
    async reconnect(): Promise<void> {
      release()
      client = await pool.connect()
      lost = undefined
      client.on('error', noteLoss)
    },
    release,
  }
}

/** A transaction that begins with its first statement. */
function createTransaction(send: Link['send']) {
  /** Command that begins it and is not sent yet. */
  let opening: string | undefined
  let id: string | undefined

  return {
    hasBegun: () => opening !== undefined || id !== undefined,
    begin({ isolationLevel, accessMode }: TransactionSettings): void {
      opening = ['begin', isolationLevel && `isolation level ${isolationLevel}`, accessMode].filter(Boolean).join(' ')
    },
    /** Sends the command that begins it, unless it was sent. */
    async open(): Promise<void> {
      const command = opening
      opening = undefined
      if (command === undefined) return
      if (command.endsWith('read only')) return void (await send(command))
      // One round trip. The id is needed later to query the outcome.
      const [, named] = (await send(`${command}; select pg_current_xact_id()::text as id`)) as unknown as [
        pg.QueryResult,
        pg.QueryResult<{ id: string }>,
      ]
      id = named.rows[0]?.id
    },
    end(): { wasOpened: boolean; id: string | undefined } {
      const ended = { wasOpened: opening === undefined, id }
      opening = undefined
      id = undefined
      return ended
    },
  }
}

/**
 * Determines the outcome of a lost commit.
 *
 * @throws the loss itself when the transaction has certainly changed nothing
 */
async function resolveCommit(
  link: Link,
  { id, loss, store }: { id: string; loss: unknown; store: string },
): Promise<void> {
  const deadline = Date.now() + OUTCOME_PATIENCE_MS
  while (Date.now() < deadline) {
    await link.reconnect()
    try {
      const { rows } = await link.send('select pg_xact_status($1::text::xid8) as outcome', [id])
      const { outcome } = rows[0] as { outcome: string | null }
      if (outcome === 'committed') return
      if (outcome === 'aborted') throw loss
      if (outcome === null) break
    } catch (error) {
      if (error === loss || !link.isLost()) throw error
    }
    await delay(OUTCOME_PAUSE_MS)
  }
  throw unknownOutcome(store)
}

function resultOf<R>({ command, rowCount, rows }: pg.QueryResult): QueryResult<R> {
  return command === 'SELECT' ? { rows } : { rows, numAffectedRows: BigInt(rowCount ?? 0) }
}

/** Tells whether running the query twice equals running it once. */
function isRead({ query, sql }: CompiledQuery): boolean {
  if (query.kind === 'SelectQueryNode') return true
  return query.kind === 'RawNode' && /^\s*select\b/i.test(sql)
}
