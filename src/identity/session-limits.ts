import { type Kysely, sql, type Transaction } from 'kysely'
import * as z from 'zod'
import type { Schema } from '../store/schema.ts'
import type { SessionLimitsRow } from '../store/tables/session-limits-tables.ts'
import { AmountAboveZero, type Micros, toMicros, toUsd } from '../text/money.ts'

/** Most minutes of a session, and of the window in which repeats count: a year, and a day. */
const [MAX_MINUTES, MAX_REPEAT_MINUTES] = [527_040, 1_440]

/** Loop guard of a session. */
export const Repeats = z
  .strictObject({ times: z.int().min(2).max(1_000), minutes: z.int().min(1).max(MAX_REPEAT_MINUTES) })
  .meta({ accepted: `{times, minutes} with 2 to 1000 times within 1 to ${MAX_REPEAT_MINUTES} minutes` })

/** Limits of each session of a coding agent, in requests and replies. Null for unlimited. */
export const SESSION_LIMITS = {
  session_usd: AmountAboveZero.nullable().describe('Budget of each session of a coding agent, in USD.'),
  session_calls: z.int().min(1).max(1_000_000_000).nullable().describe('Calls of each session.'),
  session_minutes: z.int().min(1).max(MAX_MINUTES).nullable().describe('Minutes of each session, from its first call.'),
  repeats: Repeats.nullable().describe(
    'Most times that a session may make the same request, or get the same result of the same tool call, within some minutes.',
  ),
} as const

const SessionLimitsRecord = z.object(SESSION_LIMITS)
type SessionLimitsRecord = z.infer<typeof SessionLimitsRecord>
type SessionLimitsChange = { [Name in keyof SessionLimitsRecord]?: SessionLimitsRecord[Name] | undefined }

/** Limits of each session of a key, of its own and its group's the tighter. Null for unlimited. */
export interface SessionLimits {
  micros: Micros | null
  calls: number | null
  minutes: number | null
  repeats: { times: number; minutes: number } | null
}

type Row = Omit<SessionLimitsRow, 'owner'>

/** Combines the limits of a key and its group. @returns null when there are none */
export function sessionLimitsOf(rows: readonly Row[]): SessionLimits | null {
  const least = (of: (row: Row) => number | null) =>
    rows.map(of).reduce((one, other) => (one === null || (other !== null && other < one) ? other : one), null)
  const [first] = rows
    .filter(({ repeat_times }) => repeat_times !== null)
    .toSorted((a, b) => Number(a.repeat_times) - Number(b.repeat_times))
  const limits = {
    micros: least(({ micros }) => micros),
    calls: least(({ calls }) => calls),
    minutes: least(({ minutes }) => minutes),
    repeats: first ? { times: Number(first.repeat_times), minutes: Number(first.repeat_minutes) } : null,
  }
  return Object.values(limits).every((limit) => limit === null) ? null : limits
}

/** Builds the shown limits of a row. */
export const toSessionLimits = (row: Row | undefined): SessionLimitsRecord => ({
  session_usd: row?.micros == null ? null : toUsd(row.micros),
  session_calls: row?.calls ?? null,
  session_minutes: row?.minutes ?? null,
  repeats: row?.repeat_times == null ? null : { times: row.repeat_times, minutes: row.repeat_minutes as number },
})

/** Reads the limits of keys and groups, by owner id. */
export async function readSessionLimits(
  db: Kysely<Schema>,
  owners: readonly string[],
): Promise<Map<string, SessionLimitsRow>> {
  if (owners.length === 0) return new Map()
  const rows = await db.selectFrom('session_limits').selectAll().where('owner', 'in', owners).execute()
  return new Map(rows.map((row) => [row.owner, row]))
}

/** Changes the given limits of an owner, whose row is locked before. Absent ones stay, and null removes one. */
export async function changeSessionLimits(
  trx: Transaction<Schema>,
  owner: string,
  change: SessionLimitsChange,
): Promise<void> {
  const columns = toColumns(change)
  if (Object.keys(columns).length === 0) return
  await trx
    .insertInto('session_limits')
    .values(toSessionRow(owner, change))
    .onConflict((conflict) => conflict.column('owner').doUpdateSet(columns))
    .execute()
  await trx
    .deleteFrom('session_limits')
    .where('owner', '=', owner)
    .where(sql<boolean>`coalesce(micros, calls, minutes, repeat_times) is null`)
    .execute()
}

/** Deletes the limits of a group that is deleted. */
export async function removeSessionLimits(trx: Transaction<Schema>, owner: string): Promise<void> {
  await trx.deleteFrom('session_limits').where('owner', '=', owner).execute()
}

const NO_LIMITS: Row = { micros: null, calls: null, minutes: null, repeat_times: null, repeat_minutes: null }

/** Builds the row of the limits of a new key or group. */
export const toSessionRow = (owner: string, limits: SessionLimitsChange): SessionLimitsRow => ({
  ...NO_LIMITS,
  owner,
  ...toColumns(limits),
})

function toColumns(change: SessionLimitsChange): Partial<Row> {
  const { session_usd, session_calls, session_minutes, repeats } = change
  return {
    ...(session_usd !== undefined && { micros: session_usd === null ? null : (toMicros(session_usd) as Micros) }),
    ...(session_calls !== undefined && { calls: session_calls }),
    ...(session_minutes !== undefined && { minutes: session_minutes }),
    ...(repeats !== undefined && { repeat_times: repeats?.times ?? null, repeat_minutes: repeats?.minutes ?? null }),
  }
}
