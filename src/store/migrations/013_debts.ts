import { type Kysely, sql } from 'kysely'
import { columns } from '../columns.ts'
import type { Engine } from '../engine.ts'

/**
 * Adds the usage beyond reservations to spending, and what an admin forgave of it. Adds to receipts and their sums what
 * the operator bore, and what credit did not hold.
 */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { integer } = columns(engine)
  for (const [table, column] of [
    ['spending', 'beyond_micros'],
    ['spending', 'forgiven_micros'],
    ['metered_calls', 'absorbed_micros'],
    ['metered_calls', 'debt_micros'],
    ['metered_usage', 'absorbed_micros'],
    ['metered_usage', 'debt_micros'],
  ] as const)
    await sql`alter table ${sql.table(table)} add column ${sql.ref(column)} ${integer} not null default 0`.execute(db)
}
