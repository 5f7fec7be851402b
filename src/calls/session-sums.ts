import { sql, type Transaction } from 'kysely'
import { runBuiltRows } from '../store/prepared-sql.ts'
import type { Schema } from '../store/schema.ts'
import type { CallRow } from '../store/tables/calls-tables.ts'
import type { CodingSessionRow } from '../store/tables/coding-sessions-tables.ts'
import { FIGURES, NO_CALLS } from './call-figures.ts'
import { isTrace } from './call-session.ts'
import { statusOf } from './call-status.ts'
import { nameByNumber } from './named-session.ts'

/** Columns of a session that are added up. */
const SUMS = [...FIGURES, 'errors', 'refused', 'retries'] as const

/**
 * Adds calls to the sums of their sessions, and lets the rows name these by number. Traces are omitted: each may be that
 * of one call. Sessions are written in key order to avoid deadlocks.
 */
export async function addToSessions(trx: Transaction<Schema>, rows: readonly CallRow[]): Promise<void> {
  const sessions = new Map<string, SessionSum>()
  // Most calls of a batch follow one of their own session.
  let last: SessionSum | undefined
  for (const row of rows) {
    const { session_id } = row
    if (session_id === null || isTrace(session_id)) continue
    const caller_id = row.caller_id ?? ''
    if (last === undefined || last.row.session_id !== session_id || last.row.caller_id !== caller_id) {
      const key = `${caller_id}\0${session_id}`
      last = sessions.get(key) ?? { row: emptySession(caller_id, session_id, row.at), calls: [], endMs: 0 }
      sessions.set(key, last)
    }
    addCall(last, row)
  }
  if (sessions.size === 0) return
  const ordered = [...sessions].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum)
  const numbered = await runBuiltRows(trx, 'add to coding sessions', ordered.map(rowOf), (part) =>
    addSessions(trx, part).compile(),
  )
  for (const { caller_id, session_id, ...session } of numbered)
    for (const row of sessions.get(`${caller_id}\0${session_id}`)?.calls ?? []) nameByNumber(row, session)
}

/** Sums of a session over a batch, and when the last of its calls ended, in milliseconds since 1970. */
interface SessionSum {
  row: CodingSessionRow
  calls: CallRow[]
  endMs: number
}

function rowOf({ row, endMs }: SessionSum): CodingSessionRow {
  const end = new Date(endMs).toISOString()
  if (end > row.last_at) row.last_at = end
  row.first_client = row.client
  row.first_client_version = row.client_version
  return row
}

/** A session before its first call. Every row has the same columns in the same order; the statements rely on it. */
export const emptySession = (caller_id: string, session_id: string, at: string): CodingSessionRow => ({
  caller_id,
  session_id,
  client: null,
  client_version: null,
  started_at: at,
  last_at: at,
  ...NO_CALLS,
  errors: 0,
  refused: 0,
  retries: 0,
  turns: 0,
  first_turn: null,
  last_turn: null,
  first_client: null,
  first_client_version: null,
})

function addCall(sum: SessionSum, row: CallRow): void {
  const { row: session } = sum
  sum.calls.push(row)
  for (const figure of FIGURES) session[figure] += figure === 'calls' ? 1 : (row[figure] ?? 0)
  const { counts } = statusOf(row.status)
  if (counts === 'error') session.errors += 1
  if (counts === 'refusal') session.refused += 1
  if (row.fallback_from !== null) session.retries += 1
  session.client = row.client ?? session.client
  session.client_version = row.client_version ?? session.client_version
  if (row.at < session.started_at) session.started_at = row.at
  sum.endMs = Math.max(sum.endMs, Date.parse(row.at) + row.latency_ms)
  // Agents that the main one started have turns of their own, beside its turns.
  if (row.turn_id === null || row.parent_id !== null || row.turn_id === session.last_turn) return
  session.turns += 1
  session.first_turn ??= row.turn_id
  session.last_turn = row.turn_id
}

const stored = (name: keyof CodingSessionRow) => sql.ref(`coding_sessions.${name}`)
const added = (name: keyof CodingSessionRow) => sql.ref(`excluded.${name}`)
const newest = (name: keyof CodingSessionRow) => sql`coalesce(${added(name)}, ${stored(name)})`

function addSessions(trx: Transaction<Schema>, sessions: readonly CodingSessionRow[]) {
  const sums = SUMS.map((name) => [name, sql`${stored(name)} + ${added(name)}`])
  const goesOn = sql`case when ${added('first_turn')} = ${stored('last_turn')} then 1 else 0 end`
  return trx
    .insertInto('coding_sessions')
    .values(sessions)
    .onConflict((conflict) =>
      conflict.columns(['caller_id', 'session_id']).doUpdateSet({
        ...Object.fromEntries(sums),
        client: newest('client'),
        client_version: newest('client_version'),
        started_at: sql`case when ${added('started_at')} < ${stored('started_at')}
          then ${added('started_at')} else ${stored('started_at')} end`,
        last_at: sql`case when ${added('last_at')} > ${stored('last_at')} then ${added('last_at')} else ${stored('last_at')} end`,
        turns: sql`${stored('turns')} + ${added('turns')} - ${goesOn}`,
        first_turn: newest('first_turn'),
        last_turn: newest('last_turn'),
        first_client: sql`coalesce(${stored('first_client')}, ${added('first_client')})`,
        first_client_version: sql`case when ${stored('first_client')} is null
          then ${added('first_client_version')} else ${stored('first_client_version')} end`,
      }),
    )
    .returning(['caller_id', 'session_id', 'number', 'first_client', 'first_client_version'])
}
