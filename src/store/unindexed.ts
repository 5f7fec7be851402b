import { type RawBuilder, sql } from 'kysely'

/**
 * A text column as an expression that no index is looked up by. For a condition beside one that leaves a few rows: without
 * statistics an engine may else look up the rows of a whole history by it.
 */
export const unindexed = (column: string): RawBuilder<string> => sql<string>`(${sql.ref(column)} || '')`
