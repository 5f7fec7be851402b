import { type Kysely, sql } from 'kysely'
import { columns } from '../columns.ts'
import type { Engine } from '../engine.ts'

/**
 * Adds the writer to memories and their versions: the key that stored them; null for the tools of this machine.
 *
 * Memories of before did not record who stored them:
 *
 * - those in a key's own space can only be that key's, so they get its id;
 * - those in the operator's space stay null, and are trusted as before. Nearly all come from the tools of this machine,
 *   and nothing tells the others apart. To distrust all would silence the memory of every store that ever had a key.
 */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { text } = columns(engine)
  for (const table of ['memories', 'memory_versions'].map((name) => sql.table(name))) {
    await sql`alter table ${table} add column written_by ${text}`.execute(db)
    await sql`update ${table} set written_by =
      (select key_id from memory_spaces where memory_spaces.space = ${table}.space) where space <> 0`.execute(db)
  }
}
