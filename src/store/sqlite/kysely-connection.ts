import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import { partsOf } from '../joined-statements.ts'

/**
 * Creates a Kysely connection from a function that executes one statement. Joined statements run one after the other.
 */
export function connectionOf(execute: <R>(query: CompiledQuery) => Promise<QueryResult<R>>): DatabaseConnection {
  return {
    async executeQuery<R>(query: CompiledQuery) {
      const parts = partsOf(query)
      if (parts === null) return execute<R>(query)
      const results: QueryResult<unknown>[] = []
      for (const part of parts) results.push(await execute(part))
      return { rows: results as R[] }
    },
    // biome-ignore lint/correctness/useYield: Kysely asks for a generator; no service streams rows.
    async *streamQuery(): AsyncIterableIterator<never> {
      throw new Error('Rows are read in pages, not streamed.')
    },
  }
}
