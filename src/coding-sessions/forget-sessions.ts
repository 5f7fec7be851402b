import { type RawBuilder, sql, type Transaction } from 'kysely'
import { retentionSweep } from '../store/retention.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import type { CodingSessionRow } from '../store/tables/coding-sessions-tables.ts'

/** Tables with what is known of a session. */
const TABLES = ['session_facts', 'session_commits'] as const

/**
 * Deletes sessions with their facts and commits. Records of their calls stay, and those that name a session by number need
 * it: its first call may have come since the session was selected.
 *
 * @param condition what a session must still meet when it is deleted
 */
export async function forgetSessions(
  trx: Transaction<Schema>,
  sessions: readonly Pick<CodingSessionRow, 'caller_id' | 'session_id'>[],
  condition: RawBuilder<boolean>,
): Promise<void> {
  if (sessions.length === 0) return
  const { rows } = await sql<(typeof sessions)[number]>`delete from coding_sessions
    where (caller_id, session_id) in (values ${keysOf(sessions)}) and ${condition}
    returning caller_id, session_id`.execute(trx)
  if (rows.length === 0) return
  for (const table of TABLES)
    await sql`delete from ${sql.table(table)} where (caller_id, session_id) in (values ${keysOf(rows)})`.execute(trx)
}

const keysOf = (sessions: readonly Pick<CodingSessionRow, 'caller_id' | 'session_id'>[]) =>
  sql.join(sessions.map(({ caller_id, session_id }) => sql`(${caller_id}, ${session_id})`))

/**
 * Sweep that deletes the sessions whose last call is older than the audit trail keeps.
 *
 * @param retentionDays `audit.retention_days`, read at each run; null keeps all
 */
export function sessionRetention(store: Store, now: () => Date, retentionDays: () => number | null): Sweep {
  return retentionSweep({
    name: 'coding_sessions.retention',
    now,
    days: retentionDays,
    prune: (before, limit) =>
      store.write(async (trx) => {
        // Calls are deleted by the hour. Until then they name it.
        const isOver = sql<boolean>`last_at < ${before}
          and not exists (select 1 from calls where calls.session = coding_sessions.number)`
        const old = await trx
          .selectFrom('coding_sessions')
          .select(['caller_id', 'session_id'])
          .where(isOver)
          .orderBy('last_at')
          .limit(limit)
          .forUpdate()
          .skipLocked()
          .execute()
        await forgetSessions(trx, old, isOver)
        return old.length
      }),
  })
}
