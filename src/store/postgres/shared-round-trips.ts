import {
  type CompiledQuery,
  type DatabaseConnection,
  Kysely,
  PostgresAdapter,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely'
import { together } from '../joined-statements.ts'
import type { Schema } from '../schema.ts'
import { isCanceled } from './postgres-errors.ts'

/** A read that waits for its round trip. */
interface Waiting {
  query: CompiledQuery
  resolve(result: QueryResult<unknown>): void
  reject(error: unknown): void
}

/**
 * Sends reads that are asked for at the same time in one round trip, on one connection. It has no transactions. A round
 * trip costs the process about as much as the server, so this halves the time of several small reads.
 */
export function sharedRoundTrips(db: Kysely<Schema>): Kysely<Schema> {
  let waiting: Waiting[] = []

  async function send(): Promise<void> {
    const reads = waiting
    waiting = []
    const [only] = reads
    if (only !== undefined && reads.length === 1) return db.executeQuery(only.query).then(only.resolve, only.reject)
    try {
      const { rows } = await db.executeQuery(together(reads.map(({ query }) => query)))
      for (const [i, { resolve }] of reads.entries()) resolve(rows[i] as QueryResult<unknown>)
    } catch (error) {
      // Perhaps one of them failed: each gets its own result. A canceled one must not run again, and may be any of them.
      if (isCanceled(error)) for (const { reject } of reads) reject(error)
      else for (const { query, resolve, reject } of reads) db.executeQuery(query).then(resolve, reject)
    }
  }

  const connection: DatabaseConnection = {
    executeQuery: <R>(query: CompiledQuery) =>
      new Promise<QueryResult<R>>((resolve, reject) => {
        // After the promises that are settled now, which may ask for more.
        if (waiting.length === 0) process.nextTick(send)
        waiting.push({ query, resolve: resolve as Waiting['resolve'], reject })
      }),
    // biome-ignore lint/correctness/useYield: Kysely asks for a generator; no service streams rows.
    async *streamQuery(): AsyncIterableIterator<never> {
      throw new Error('Rows are read in pages, not streamed.')
    },
  }
  const refuse = async () => {
    throw new Error('Reads that share a round trip have no transaction.')
  }
  return new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createIntrospector: () => db.introspection,
      createDriver: () => ({
        init: async () => {},
        acquireConnection: async () => connection,
        releaseConnection: async () => {},
        beginTransaction: refuse,
        commitTransaction: refuse,
        rollbackTransaction: refuse,
        destroy: async () => {},
      }),
    },
  })
}
