import { type Kysely, sql } from 'kysely'
import { columns, type Engine } from '../columns.ts'

/** Recurring chores that any of several processes may do. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { time, text } = columns(engine)
  await sql`create table sweeps (
    name ${text} not null primary key,
    next_at ${time} not null
  )`.execute(db)
}
