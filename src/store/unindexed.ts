import { type RawBuilder, sql } from 'kysely'

/**
 * SQL for a text column that no index is used for. For a condition beside a selective one: without statistics an engine
 * might otherwise scan a whole history by this column.
 */
export const unindexed = (column: string): RawBuilder<string> => sql<string>`(${sql.ref(column)} || '')`
