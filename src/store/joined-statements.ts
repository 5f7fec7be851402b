import { CompiledQuery, type QueryResult } from 'kysely'

/** Statements that go to the engine as one; the rows of the result are the results of each. */
interface Together extends CompiledQuery<QueryResult<unknown>> {
  parts: readonly CompiledQuery[]
}

/** Several statements as one query, for a connection that knows of {@link partsOf}. */
export function together(parts: readonly CompiledQuery[]): CompiledQuery<QueryResult<unknown>> {
  const query: Together = { ...CompiledQuery.raw(''), parts }
  return query
}

/** The statements that a query is made of; null where it is one itself. */
export const partsOf = (query: CompiledQuery): readonly CompiledQuery[] | null =>
  'parts' in query ? (query as Together).parts : null
