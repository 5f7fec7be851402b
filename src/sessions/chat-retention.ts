import { sql } from 'kysely'
import { retentionSweep } from '../store/retention.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import { countSession } from './session-totals.ts'

/** Messages that a batch deletes: a message may be long, and others wait meanwhile. */
const MESSAGES = 20
/** Sessions that a batch looks at. */
const SESSIONS = 20

/**
 * Sweep that deletes chats by the time of their last message.
 *
 * @param days `chats.retention_days`, read at each run; null keeps all
 */
export const chatRetention = (store: Store, now: () => Date, days: () => number | null): Sweep =>
  retentionSweep({ name: 'chats.retention', now, days, prune: (before, limit) => pruneChats(store, before, limit) })

/**
 * Deletes the oldest messages of chats from before `before`, then the chats that have none left. The work of one call is
 * bounded, however long a chat is.
 */
function pruneChats(store: Store, before: string, limit: number): Promise<number> {
  return store.write(async (trx) => {
    const old = await trx
      .selectFrom('sessions')
      .selectAll()
      .where('last_active_at', '<', before)
      .orderBy('last_active_at')
      .orderBy('id')
      .limit(SESSIONS)
      .forUpdate()
      .skipLocked()
      .execute()
    let left = MESSAGES
    for (const session of old) {
      const { numAffectedRows = 0n } =
        await sql`delete from session_messages where session_id = ${session.id} and position in
        (select position from session_messages where session_id = ${session.id} order by position limit ${left})`.execute(
          trx,
        )
      left -= Number(numAffectedRows)
      await sql`delete from session_texts where session_id = ${session.id} and position < coalesce(
        (select min(position) from session_messages where session_id = ${session.id}), 2147483647)`.execute(trx)
      if (left <= 0) return limit
      await trx.deleteFrom('sessions').where('id', '=', session.id).execute()
      await countSession(trx, session, -1)
    }
    return old.length === SESSIONS ? limit : 0
  })
}
