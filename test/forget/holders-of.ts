import { type Kysely, sql } from 'kysely'
import type { Schema } from '../../src/store/schema.ts'
import { RECORD_TABLES } from '../../src/store/schema.ts'

/** Finds the tables that hold a word, in lower case, with the number of their rows that do. */
export async function holdersOf(db: Kysely<Schema>, word: string): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const table of Object.keys(RECORD_TABLES)) {
    const { rows } = await sql`select * from ${sql.table(table)}`.execute(db)
    const having = rows.filter((row) => JSON.stringify(row).toLowerCase().includes(word)).length
    if (having > 0) found[table] = having
  }
  return found
}
