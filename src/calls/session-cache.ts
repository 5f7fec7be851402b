import { sql } from 'kysely'
import * as z from 'zod'
import { CallerId } from '../identity/key.ts'
import type { Store } from '../store/store.ts'
import { CacheSums, cacheSums } from './call-cache.ts'
import { LONGEST_SESSION_ID } from './call-session.ts'
import { callsOfSession, meetingAny } from './named-session.ts'

/** Selects the session of a client. Sessions of the same name belong to as many keys. */
export const SessionCacheQuery = z.strictObject({
  session: z.string().min(1).max(LONGEST_SESSION_ID),
  caller_id: CallerId.optional().describe('Only the calls of this key or wallet.'),
})
export type SessionCacheQuery = z.infer<typeof SessionCacheQuery>

/** Prompt caches of the kept calls of a session. */
export const SessionCache = CacheSums.extend({
  calls: z.int(),
  prompt_tokens: z.int(),
  changed_tools: z.int().describe('Calls whose cache was missed after the client had changed its tools'),
  changed_instructions: z.int().describe('The same, after it had changed its instructions'),
})
export type SessionCache = z.infer<typeof SessionCache>

/** Sums up the prompt caches of a session, over the calls that the trail still has. */
export async function sessionCache(store: Store, { session, caller_id }: SessionCacheQuery): Promise<SessionCache> {
  const counted = (part: string) => sql<number>`coalesce(sum(case when cache_changed = ${part} then 1 else 0 end), 0)`
  const summed = (column: string) => sql<number>`coalesce(sum(${sql.ref(column)}), 0)`
  const query = store.reads
    .selectFrom('calls')
    .where(meetingAny(await callsOfSession(store.reads, session, caller_id)))
    .select(({ fn }) => [
      fn.countAll<number>().as('calls'),
      summed('prompt_tokens').as('prompt_tokens'),
      summed('cached_tokens').as('cached_tokens'),
      summed('cache_write_tokens').as('cache_write_tokens'),
      summed('cache_saved_micros').as('cache_saved_micros'),
      summed('cache_missed_tokens').as('cache_missed_tokens'),
      summed('cache_missed_micros').as('cache_missed_micros'),
      counted('tools').as('changed_tools'),
      counted('instructions').as('changed_instructions'),
    ])
  const { calls, changed_tools, changed_instructions, ...figures } = await query.executeTakeFirstOrThrow()
  const { prompt_tokens } = figures
  return { calls, prompt_tokens, ...cacheSums(figures), changed_tools, changed_instructions }
}
