import { type Kysely, sql } from 'kysely'
import { columns, type Engine } from '../columns.ts'

/** Up to which record of its session an attestation was used: what another one proves must be newer. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { text, integer } = columns(engine)
  await sql`alter table attestation_uses add column session_id ${text}`.execute(db)
  await sql`alter table attestation_uses add column records ${integer}`.execute(db)
  await sql`create index attestation_uses_of_session on attestation_uses (session_id, records)`.execute(db)
}
