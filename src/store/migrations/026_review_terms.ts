import { type Kysely, sql } from 'kysely'
import { columns } from '../columns.ts'
import type { Engine } from '../engine.ts'

/** Adds sketches of gaze sessions, the review that a task needs, and the task of a review. Those of before have none. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { text, json } = columns(engine)
  await sql`alter table gaze_sessions add column sketch ${text}`.execute(db)
  await sql`alter table tasks add column review ${json}`.execute(db)
  await sql`alter table reviews add column task_id ${text}`.execute(db)
}
