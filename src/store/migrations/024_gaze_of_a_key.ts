import { type Kysely, sql } from 'kysely'

/** A key's gaze by path or source is found without all else that it has stored. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of ['path', 'source'])
    await sql`create index ${sql.ref(`gaze_records_caller_${column}`)} on gaze_records
      (caller_id, ${sql.ref(column)}, at, id) where caller_id is not null`.execute(db)
}
