import { type Kysely, sql } from 'kysely'
import { columns } from '../columns.ts'
import type { Engine } from '../engine.ts'

/** Adds what models are known to refuse, and to calls what was changed in their request. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { text, time } = columns(engine)
  await sql`create table model_facts (
    upstream ${text} not null,
    model ${text} not null,
    name ${text} not null,            -- the mend that it needs
    key_id ${text} not null,          -- key that met it; empty for tools of the machine
    met_at ${time} not null,
    primary key (upstream, model, name, key_id)
  )`.execute(db)
  await sql`alter table calls add column changed ${text}`.execute(db)
}
