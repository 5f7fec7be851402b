import { sql } from 'kysely'
import * as z from 'zod'
import { GazewayError } from '../errors.ts'
import type { Keep } from '../idempotency/idempotency.ts'
import { readSessionLimits, SESSION_LIMITS, sessionLimitsOf } from '../identity/session-limits.ts'
import type { Store } from '../store/store.ts'
import type { SessionStateRow } from '../store/tables/session-limits-tables.ts'
import { AmountAboveZero, type Micros, toMicros, toUsd } from '../text/money.ts'

/** State of a session, and what admins have added to its limits. */
export const SessionState = z.object({
  id: z.string(),
  key: z.string().describe('Key or wallet of its calls'),
  state: z.enum(['active', 'stopped']),
  stopped_at: z.iso.datetime().nullable(),
  stopped_by: z.string().nullable().describe('Key of the admin who stopped it; null on the command line'),
  raised: z.object({ usd: z.number(), calls: z.int(), minutes: z.int() }).describe('Added to its limits'),
})
export type SessionState = z.infer<typeof SessionState>

/** Limits of a session as they are now, and what admins have added to them. */
export const LimitsOfSession = z.object({
  limits: z.object(SESSION_LIMITS).describe('Of its key and group the tighter, with what admins have added'),
  raised: SessionState.shape.raised,
  stopped_at: SessionState.shape.stopped_at,
  stopped_by: SessionState.shape.stopped_by,
})

/** Amounts that an admin adds to the limits of a resumed session. */
export const Resumption = z.strictObject({
  raise_usd: AmountAboveZero.optional().describe('USD added to session_usd'),
  raise_calls: z.int().min(1).max(1_000_000).optional().describe('Calls added to session_calls'),
  raise_minutes: z.int().min(1).max(527_040).optional().describe('Minutes added to session_minutes'),
})
export type Resumption = z.infer<typeof Resumption>

/** Session as an admin names it: the key only where several have one of the id. */
export interface NamedSession {
  sessionId: string
  /** Key or wallet of its calls. */
  callerId: string | undefined
}

/**
 * Stops a session: its calls end and new ones are refused, in all processes within 5 s.
 *
 * @param change.by key of the admin; null on the command line
 * @throws see {@link callerOfSession}
 */
export async function stopSession(
  store: Store,
  session: NamedSession,
  { by, at }: { by: string | null; at: Date },
): Promise<SessionState> {
  const stoppedAt = at.toISOString()
  const stopped = (row: SessionStateRow) => (row.stopped_at === null ? { stopped_at: stoppedAt, stopped_by: by } : {})
  return changeState(store, session, { at, change: stopped })
}

/**
 * Lets a session go on, with more of its limits.
 *
 * @param resumption.keep stores the reply in the transaction of the raise, for a repeated request
 * @throws see {@link callerOfSession}
 */
export async function resumeSession(
  store: Store,
  session: NamedSession,
  { raise, at, keep }: { raise: Resumption; at: Date; keep?: Keep<SessionState> | undefined },
): Promise<SessionState> {
  const micros = raise.raise_usd === undefined ? 0 : (toMicros(raise.raise_usd) as Micros)
  const raised = (row: SessionStateRow) => ({
    stopped_at: null,
    stopped_by: null,
    raised_micros: Number(row.raised_micros) + micros,
    raised_calls: Number(row.raised_calls) + (raise.raise_calls ?? 0),
    raised_minutes: Number(row.raised_minutes) + (raise.raise_minutes ?? 0),
  })
  return changeState(store, session, { at, change: raised, keep })
}

/** Reads the limits of a session. */
export async function limitsOfSession(
  { db }: Store,
  { caller_id, session_id }: Pick<SessionStateRow, 'caller_id' | 'session_id'>,
): Promise<z.infer<typeof LimitsOfSession>> {
  const key = await db.selectFrom('keys').select('group_id').where('id', '=', caller_id).executeTakeFirst()
  const owners = [caller_id, key?.group_id ?? null].filter((owner) => owner !== null)
  const limits = sessionLimitsOf([...(await readSessionLimits(db, owners)).values()])
  const found = await db
    .selectFrom('session_states')
    .selectAll()
    .where('caller_id', '=', caller_id)
    .where('session_id', '=', session_id)
    .executeTakeFirst()
  const { raised, stopped_at, stopped_by } =
    found === undefined ? { raised: NOT_RAISED, stopped_at: null, stopped_by: null } : toState(found)
  const { micros = null, calls = null, minutes = null, repeats = null } = limits ?? {}
  return {
    ...{ raised, stopped_at, stopped_by },
    limits: {
      session_usd: micros === null ? null : toUsd(Number(micros) + Number(found?.raised_micros ?? 0)),
      session_calls: calls === null ? null : Number(calls) + raised.calls,
      session_minutes: minutes === null ? null : Number(minutes) + raised.minutes,
      repeats,
    },
  }
}

const NOT_RAISED: SessionState['raised'] = { usd: 0, calls: 0, minutes: 0 }

async function changeState(
  store: Store,
  session: NamedSession,
  of: { at: Date; change: (row: SessionStateRow) => Partial<SessionStateRow>; keep?: Keep<SessionState> | undefined },
): Promise<SessionState> {
  const callerId = await callerOfSession(store, session)
  const at = of.at.toISOString()
  return store.write(async (trx) => {
    const { sessionId } = session
    const locked = await trx
      .insertInto('session_states')
      .values({
        ...{ caller_id: callerId, session_id: sessionId, started_at: at, seen_at: at, calls: 0 },
        ...{
          raised_micros: 0,
          raised_calls: 0,
          raised_minutes: 0,
          stopped_at: null,
          stopped_by: null,
          changed_at: null,
        },
      })
      .onConflict((conflict) => conflict.columns(['caller_id', 'session_id']).doUpdateSet({ seen_at: at }))
      .returningAll()
      .executeTakeFirstOrThrow()
    const changed = await trx
      .updateTable('session_states')
      .set({ ...of.change(locked), changed_at: at })
      .where('caller_id', '=', callerId)
      .where('session_id', '=', sessionId)
      .returningAll()
      .executeTakeFirstOrThrow()
    const state = toState(changed)
    await of.keep?.(trx, state)
    return state
  })
}

/**
 * Finds the key of a session.
 *
 * @throws GazewayError `not_found` when no call of it has ended, unless its key is named; `conflict` when several keys
 *   have one of the id
 */
async function callerOfSession({ db }: Store, { sessionId, callerId }: NamedSession): Promise<string> {
  const { rows } = await sql<{ caller_id: string }>`
    select caller_id from coding_sessions where session_id = ${sessionId} and caller_id <> ''
    union select caller_id from session_states where session_id = ${sessionId}`.execute(db)
  const callers = rows.map(({ caller_id }) => caller_id)
  if (callerId !== undefined) {
    if (callers.includes(callerId) || (await isKey(db, callerId))) return callerId
    throw new GazewayError('not_found', 'There is no key or wallet with this id.', { param: 'key' })
  }
  const [only, ...others] = callers
  if (only === undefined)
    throw new GazewayError(
      'not_found',
      'No call of such a session has ended yet, or its calls have no key. If its first one still runs, name its key.',
      { param: 'id' },
    )
  if (others.length === 0) return only
  throw new GazewayError('conflict', `Several keys have a session of this id: ${callers.join(', ')}. Name one.`, {
    param: 'key',
  })
}

const isKey = async (db: Store['db'], id: string): Promise<boolean> =>
  (await db.selectFrom('keys').select('id').where('id', '=', id).executeTakeFirst()) !== undefined

const toState = (row: SessionStateRow): SessionState => ({
  id: row.session_id,
  key: row.caller_id,
  state: row.stopped_at === null ? 'active' : 'stopped',
  stopped_at: row.stopped_at,
  stopped_by: row.stopped_by,
  raised: {
    usd: toUsd(Number(row.raised_micros)),
    calls: Number(row.raised_calls),
    minutes: Number(row.raised_minutes),
  },
})
