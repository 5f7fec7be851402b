import { type Kysely, sql } from 'kysely'
import { columns } from '../columns.ts'
import type { Engine } from '../engine.ts'

/** Words of clients about the session of a call. */
const WORDS = ['session_id', 'thread_id', 'parent_id', 'turn_id', 'kind', 'client', 'client_version']

/** Adds the session of calls, as their clients say it. Calls of before have none. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { text } = columns(engine)
  for (const word of WORDS) await sql`alter table calls add column ${sql.ref(word)} ${text}`.execute(db)
  // Keys share no sessions: the calls of one key's session lie together, whatever others name theirs.
  await sql`create index calls_of_session on calls (session_id, caller_id, at) where session_id is not null`.execute(db)
}
