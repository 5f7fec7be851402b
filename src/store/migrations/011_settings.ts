import { type Kysely, sql } from 'kysely'
import { columns, type Engine } from '../columns.ts'

/** Settings that machines on one store share, and the number by which each sees that they have changed. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { json, time, integer, text } = columns(engine)
  await sql`create table settings (
    path ${text} not null primary key,
    value ${json} not null,
    updated_at ${time} not null
  )`.execute(db)
  await sql`create table settings_revision (
    id ${integer} not null primary key,
    revision ${integer} not null
  )`.execute(db)
  await sql`insert into settings_revision (id, revision) values (1, 0)`.execute(db)
}
