import { type Kysely, sql } from 'kysely'

/**
 * A narrowed list of calls goes by time, and by id within the few of one millisecond, which an engine sorts as it reads
 * them: without their ids, a call takes a quarter less on disk.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of ['status', 'model', 'path', 'caller_id']) {
    const index = sql.ref(`calls_${column}`)
    await sql`drop index ${index}`.execute(db)
    await sql`create index ${index} on calls (${sql.ref(column)}, at)`.execute(db)
  }
}
