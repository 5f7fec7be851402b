import { type Kysely, sql } from 'kysely'
import { columns } from '../columns.ts'
import type { Engine } from '../engine.ts'

/** Adds the level of evidence that a task asks of its attestations. Those of before follow the setting `gaze.require`. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { text } = columns(engine)
  await sql`alter table tasks add column gaze_level ${text}`.execute(db)
}
