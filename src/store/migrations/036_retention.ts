import { type Kysely, sql } from 'kysely'

/** Finds the contents of calls, and the texts of ended tasks, that are past their retention. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index calls_with_content on calls (at) where content is not null`.execute(db)
  await sql`create index tasks_ended on tasks (updated_at)
    where status in ('completed', 'failed', 'cancelled') and title <> ''`.execute(db)
}
