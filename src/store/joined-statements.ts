import { CompiledQuery, type QueryResult } from 'kysely'

/** Statements sent to the engine as one. Each row of the result is the result of one statement. */
interface Together extends CompiledQuery<QueryResult<unknown>> {
  parts: readonly CompiledQuery[]
}

/** Joins several statements into one query, for a connection that supports {@link partsOf}. */
export function together(parts: readonly CompiledQuery[]): CompiledQuery<QueryResult<unknown>> {
  const query: Together = { ...CompiledQuery.raw(''), parts }
  return query
}

/** Statements of a joined query. Null for an ordinary one. */
export const partsOf = (query: CompiledQuery): readonly CompiledQuery[] | null =>
  'parts' in query ? (query as Together).parts : null
