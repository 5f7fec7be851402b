import { sql } from 'kysely'

/**
 * Kinds of transfers whose money receipts describe, and those that only reserve, as an SQL list. Partial indexes name the same
 * list.
 */
export const OF_CALLS = sql`('reserve', 'void', 'capture', 'charge')`
