import { type Kysely, sql } from 'kysely'
import { columns } from '../columns.ts'
import type { Engine } from '../engine.ts'

const TIMES = ['queue_ms', 'first_byte_ms', 'first_thought_ms', 'first_text_ms'] as const

/** Adds to calls when they were sent, and when the parts of their replies began. Calls of before have none. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { integer } = columns(engine)
  for (const time of TIMES) await sql`alter table calls add column ${sql.ref(time)} ${integer}`.execute(db)
}
