import type { Store } from '../../store/store.ts'
import { sessionOwner } from './session-budget.ts'

/** Time without a call after which a session is forgotten, in milliseconds: 30 days. */
const KEPT_MS = 30 * 86_400_000

/**
 * Forgets at most `limit` sessions that were not used for 30 days, with what they spent of their budgets. Stopped ones
 * stay stopped.
 *
 * @returns how many
 */
export async function forgetSessions(store: Store, now: Date, limit: number): Promise<number> {
  const before = new Date(now.getTime() - KEPT_MS).toISOString()
  const old = await store.db
    .selectFrom('session_states')
    .select(['caller_id', 'session_id'])
    .where('seen_at', '<', before)
    .where('stopped_at', 'is', null)
    .orderBy('seen_at')
    .limit(limit)
    .execute()
  for (const { caller_id: callerId, session_id: sessionId } of old)
    await store.write(async (trx) => {
      const forgotten = await trx
        .deleteFrom('session_states')
        .where('caller_id', '=', callerId)
        .where('session_id', '=', sessionId)
        .where('seen_at', '<', before)
        .where('stopped_at', 'is', null)
        .returning('session_id')
        .executeTakeFirst()
      // It was used or stopped meanwhile.
      if (forgotten === undefined) return
      const owner = sessionOwner({ callerId, sessionId })
      await trx.deleteFrom('spending').where('owner', '=', owner).execute()
    })
  return old.length
}
