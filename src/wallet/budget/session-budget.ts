import { sql, type Transaction } from 'kysely'
import { readSessionLimits, sessionLimitsOf } from '../../identity/session-limits.ts'
import type { Schema } from '../../store/schema.ts'
import type { BudgetRow } from '../../store/tables/keys-tables.ts'
import type { SessionStateRow } from '../../store/tables/session-limits-tables.ts'
import type { Spender } from './spending.ts'

/** Session of a key, as its client names it. */
export interface SessionOf {
  callerId: string
  sessionId: string
}

const PREFIX = 'session:'
/** Separator behind the id of a key, which has none. */
const SEPARATOR = ':'

/** Name under which the spending of a session is counted, beside keys and groups. Two keys share no session. */
export const sessionOwner = ({ callerId, sessionId }: SessionOf): string =>
  `${PREFIX}${callerId}${SEPARATOR}${sessionId}`

/** Tells whether spending is that of a session. */
export const isSession = (owner: string): boolean => owner.startsWith(PREFIX)

/** Finds the session whose spending is counted under a name. */
export function sessionIn(owner: string): SessionOf {
  const at = owner.indexOf(SEPARATOR, PREFIX.length)
  return { callerId: owner.slice(PREFIX.length, at), sessionId: owner.slice(at + 1) }
}

/**
 * Reads the budget of a spender's session as it is now: the least of its key and group, and what admins have added. A
 * budget of all time, of the session alone. Locks the state of the session until the transaction ends.
 *
 * @param at time of the use, RFC 3339
 * @returns none without a session, and once the limit was removed
 */
export async function sessionBudget(
  trx: Transaction<Schema>,
  { id, groupId, session = null }: Spender,
  at: string,
): Promise<readonly BudgetRow[]> {
  if (session === null) return []
  const rows = await readSessionLimits(trx, groupId === null ? [id] : [id, groupId])
  const micros = sessionLimitsOf([...rows.values()])?.micros ?? null
  if (micros === null) return []
  const { raised_micros } = await noteUse(trx, sessionIn(session), { at, calls: 0 })
  return [{ owner: session, per: 'total', micros: Number(micros) + Number(raised_micros) }]
}

/**
 * Notes that a session is in use. Locks its state until the transaction ends.
 *
 * @param use.calls how many calls begin
 * @returns its state with them
 */
export function noteUse(
  trx: Transaction<Schema>,
  { callerId, sessionId }: SessionOf,
  { at, calls }: { at: string; calls: number },
): Promise<SessionStateRow> {
  return trx
    .insertInto('session_states')
    .values({
      ...{ caller_id: callerId, session_id: sessionId, started_at: at, seen_at: at, calls },
      ...{ raised_micros: 0, raised_calls: 0, raised_minutes: 0, stopped_at: null, stopped_by: null, changed_at: null },
    })
    .onConflict((conflict) =>
      conflict.columns(['caller_id', 'session_id']).doUpdateSet({
        seen_at: sql`excluded.seen_at`,
        calls: sql`session_states.calls + excluded.calls`,
      }),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
}
