import { type Kysely, sql } from 'kysely'
import type { Schema } from '../store/schema.ts'
import type { CallRow } from '../store/tables/calls-tables.ts'

/** Session that stored calls name by a number. */
export interface NumberedSession {
  number: number
  first_client: string | null
  first_client_version: string | null
}

/** Client of a call that has none, where its session has one. */
const NO_CLIENT = ''

/** Lets the row of a call name its session by number, and omits a client that the session has. */
export function nameByNumber(row: CallRow, { number, first_client, first_client_version }: NumberedSession): void {
  const isOfFirst = row.client !== null && row.client === first_client && row.client_version === first_client_version
  row.client = isOfFirst ? null : (row.client ?? NO_CLIENT)
  row.client_version = isOfFirst ? null : (row.client_version ?? NO_CLIENT)
  row.session_id = null
  row.session = number
}

/**
 * Condition that a call is of the key of a session. SQLite gives the number of a deleted session to another one, and a call may
 * name it still: one that was stored while its caller was forgotten.
 */
const isOfKey = (session: string) => sql`${sql.ref(`${session}.caller_id`)} = coalesce(calls.caller_id, '')`

/** Joins the numbered session of `calls` as `numbered`. */
export const NUMBERED = sql`left join coding_sessions as numbered on numbered.number = calls.session and ${isOfKey('numbered')}`

/** SQL for the session of `calls`, beside {@link NUMBERED}. */
export const SESSION_ID = sql<string | null>`coalesce(calls.session_id, numbered.session_id)`
/** SQL for the client of `calls`, beside {@link NUMBERED}. */
export const CLIENT = sql<string | null>`nullif(coalesce(calls.client, numbered.first_client), ${sql.lit(NO_CLIENT)})`

const ofNumbered = (column: string) =>
  sql`(select ${sql.ref(column)} from coding_sessions
    where coding_sessions.number = calls.session and ${isOfKey('coding_sessions')})`
const withNumbered = (column: keyof CallRow, first: string) =>
  sql<string | null>`nullif(coalesce(${sql.ref(`calls.${column}`)}, ${ofNumbered(first)}), ${sql.lit(NO_CLIENT)})`

/** Column of `calls` for their session, as their clients said it. */
export const SESSION_OF_CALL = withNumbered('session_id', 'session_id').as('session_id')

/** Columns of `calls` for their session and client, as their clients said them. */
export const SESSION_COLUMNS = [
  SESSION_OF_CALL,
  withNumbered('client', 'first_client').as('client'),
  withNumbered('client_version', 'first_client_version').as('client_version'),
] as const

/**
 * Conditions on `calls` that find the calls of a session, each by an index of its own: those that name it by text, and
 * those that name it by number. Sessions of several keys may have the same id.
 *
 * @param callerId key or wallet of the calls; null for calls without one, undefined for any
 */
export async function callsOfSession(
  db: Kysely<Schema>,
  sessionId: string,
  callerId?: string | null,
): Promise<SessionCondition[]> {
  let query = db.selectFrom('coding_sessions').select(['number', 'caller_id']).where('session_id', '=', sessionId)
  if (callerId !== undefined) query = query.where('caller_id', '=', callerId ?? '')
  const numbers = await query.execute()
  return [
    { session_id: sessionId, caller_id: callerId },
    ...numbers.map(({ number, caller_id }) => ({ session: number, caller_id: caller_id || null })),
  ]
}

/** Names of a session in `calls`: the number is that of one caller, the text that of any without `caller_id`. */
export type SessionCondition =
  | { session: number; caller_id: string | null }
  | { session_id: string; caller_id: string | null | undefined }

/** SQL for calls that name a session in one of these ways. */
export const meetingAny = (conditions: readonly SessionCondition[]) =>
  sql<boolean>`(${sql.join(conditions.map(nameIn), sql` or `)})`

function nameIn(of: SessionCondition) {
  // By the number alone an index finds the calls.
  if ('session' in of)
    return sql`(calls.session = ${of.session} and coalesce(calls.caller_id, '') = ${of.caller_id ?? ''})`
  const named = sql`calls.session_id = ${of.session_id}`
  if (of.caller_id === undefined) return named
  return of.caller_id === null
    ? sql`(${named} and calls.caller_id is null)`
    : sql`(${named} and calls.caller_id = ${of.caller_id})`
}
