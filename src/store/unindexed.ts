import { type RawBuilder, sql } from 'kysely'

/**
 * SQL for a text column that prevents the use of its index, for a condition beside a selective one. Without statistics,
 * an engine might otherwise scan a whole history by this column.
 */
export const unindexed = (column: string): RawBuilder<string> => sql<string>`(${sql.ref(column)} || '')`
