import { sql, type Transaction } from 'kysely'
import { retentionSweep } from '../store/retention.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import type { CodingSessionRow } from '../store/tables/coding-sessions-tables.ts'

/** Tables that know a session, the facts first. */
const TABLES = ['session_facts', 'session_commits', 'coding_sessions'] as const

/** Deletes sessions with their facts and commits. Records of their calls stay. */
export async function forgetSessions(
  trx: Transaction<Schema>,
  sessions: readonly Pick<CodingSessionRow, 'caller_id' | 'session_id'>[],
): Promise<void> {
  if (sessions.length === 0) return
  const keys = sql.join(sessions.map(({ caller_id, session_id }) => sql`(${caller_id}, ${session_id})`))
  for (const table of TABLES)
    await sql`delete from ${sql.table(table)} where (caller_id, session_id) in (values ${keys})`.execute(trx)
}

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
        const old = await trx
          .selectFrom('coding_sessions')
          .select(['caller_id', 'session_id'])
          .where('last_at', '<', before)
          // Calls are deleted by the hour. Until then they name it.
          .where(sql<boolean>`not exists (select 1 from calls where calls.session = coding_sessions.number)`)
          .orderBy('last_at')
          .limit(limit)
          .forUpdate()
          .skipLocked()
          .execute()
        await forgetSessions(trx, old)
        return old.length
      }),
  })
}
